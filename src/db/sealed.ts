import { sql } from 'kysely'
import { batch } from './batches.ts'
import { type Db, transaction } from './db.ts'
import { createSeal, type Seal } from './seal.ts'
import type { Tx } from './tx.ts'

type SealedColumn = {
  table: string
  column: string
  /** The columns of a unique key, in whose order rows are read. */
  key: readonly [string, ...string[]]
  /** The column has an object in JSON, whose values are sealed. */
  json?: true
  /** The one row that has a sealed value. */
  only?: string
}

/**
 * Every column with sealed values. A test finds a missing one. The sample that each start checks (checkSeal) is last: it
 * has the new key only after all other values have it.
 */
export const sealed_columns: readonly SealedColumn[] = [
  { table: 'webhooks', column: 'secret', key: ['id'] },
  { table: 'webhooks', column: 'next_secret', key: ['id'] },
  { table: 'webhooks', column: 'headers', key: ['id'], json: true },
  {
    table: 'idempotency_keys',
    column: 'answer',
    key: ['workspace_id', 'key_id', 'path', 'idempotency_key'],
  },
  { table: 'bookings', column: 'token', key: ['workspace_id', 'appointment_id'] },
  { table: 'mails', column: 'tokens', key: ['workspace_id', 'id'] },
  { table: 'busy_calendars', column: 'url', key: ['workspace_id', 'id'] },
  { table: 'busy_calendars', column: 'password', key: ['workspace_id', 'id'] },
  { table: 'settings', column: 'value', key: ['name'], only: 'mac' },
  { table: 'settings', column: 'value', key: ['name'], only: 'seal' },
]

type Row = { value: string } & Record<string, unknown>

/** Reads the rows of a column that have a value, in batches. */
async function* rowsOf(db: Db, { table, column, key, only }: SealedColumn) {
  const keys = sql.join(key.map((name) => sql.ref(name)))
  let after: readonly unknown[] | null = null
  for (;;) {
    const { rows }: { rows: Row[] } = await sql<Row>`
      SELECT ${keys}, ${sql.ref(column)} AS value FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IS NOT NULL
        ${only === undefined ? sql`` : sql`AND ${keys} = ${only}`}
        ${after === null ? sql`` : sql`AND (${keys}) > (${sql.join(after)})`}
      ORDER BY ${keys} LIMIT ${batch}`.execute(db)
    if (rows.length) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < batch) return
    after = key.map((name) => last[name])
  }
}

/** The name of a row for people, such as `webhooks.secret of wh_1`. */
const placeOf = ({ table, column, key }: SealedColumn, row: Row) =>
  `${table}.${column} of ${key.map((name) => row[name]).join(' ')}`

const mapValues = ({ json }: SealedColumn, text: string, change: (sealed: string) => string): string =>
  json
    ? JSON.stringify(
        Object.fromEntries(
          Object.entries(JSON.parse(text) as Record<string, string>).map(([name, value]) => [
            name,
            change(value),
          ]),
        ),
      )
    : change(text)

const opens = ({ open }: Seal, sealed: string) => {
  try {
    open(sealed)
    return true
  } catch {
    return false
  }
}

/** `unopened` names at most 20 values. */
export type Rekeyed = { resealed: number; unopened: string[] }

const max_named = 20

/**
 * Seals every value with the first key that the second one sealed. Each batch is a transaction, and a row that changed
 * meanwhile stays for the next pass. So it can be stopped, repeated and run beside the service and beside itself.
 */
export async function rekeyAll(db: Db, secret_key: string, secret_key_old: string): Promise<Rekeyed> {
  const fresh = createSeal(secret_key)
  const either = createSeal(secret_key, secret_key_old)
  let resealed = 0
  for (;;) {
    const unopened: string[] = []
    let found = 0
    for (const column of sealed_columns)
      for await (const rows of rowsOf(db, column)) {
        const changes = rows.flatMap((row) => {
          try {
            const value = mapValues(column, row.value, (sealed) =>
              opens(fresh, sealed) ? sealed : fresh.seal(either.open(sealed)),
            )
            return value === row.value ? [] : [{ row, value }]
          } catch {
            if (unopened.length < max_named) unopened.push(placeOf(column, row))
            return []
          }
        })
        found += changes.length
        if (changes.length) resealed += await transaction(db, (tx) => replace(tx, column, changes))
      }
    // A change of the service may have copied an old value behind this pass.
    if (found === 0) return { resealed, unopened }
  }
}

type Change = { row: Row; value: string }

async function replace(tx: Tx, { table, column, key }: SealedColumn, changes: Change[]): Promise<number> {
  let replaced = 0n
  for (const { row, value } of changes) {
    const same = key.map((name) => sql`${sql.ref(name)} = ${row[name]}`)
    const { numAffectedRows = 0n } = await sql`
      UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${value}
      WHERE ${sql.join(same, sql` AND `)} AND ${sql.ref(column)} = ${row.value}`.execute(tx)
    replaced += numAffectedRows
  }
  return Number(replaced)
}

const of_webhooks = sealed_columns.filter(({ table }) => table === 'webhooks')

/** Names up to 20 values that the seal does not open; by default of webhooks, whose deliveries then fail. */
export async function unopenedValues(
  db: Db,
  seal: Seal,
  columns: readonly SealedColumn[] = of_webhooks,
): Promise<string[]> {
  const unopened: string[] = []
  for (const column of columns)
    for await (const rows of rowsOf(db, column))
      for (const row of rows) {
        try {
          mapValues(column, row.value, seal.open)
        } catch {
          if (unopened.push(placeOf(column, row)) === max_named) return unopened
        }
      }
  return unopened
}
