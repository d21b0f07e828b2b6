import { hash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Tx } from '../db/db.ts'
import { recordset, storable } from '../db/statements/recordset.ts'
import { pageKey, type StoredColumns, type Table } from './tables.ts'

// The limits of a page in memory. The size of the last page predicts the number of rows of the next one.
const max_rows = 1000
const max_characters = 1_000_000

type Value = string | number | null
type Row = Record<string, Value>

/** Rows as JSON texts, one for each row. */
export type RowPage = string[]

/** Reads a table in pages, in the order of its key. The rows must not change during the read. */
export async function* readPages(db: Db, table: Table, columns: StoredColumns): AsyncGenerator<RowPage> {
  const key = pageKey(db, table)
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)))
  const order = sql.join(key.map((name) => sql.ref(name)))
  let last: Row | null = null
  let limit = 100
  for (;;) {
    const after: Row | null = last
    const rest = after ? sql`WHERE (${order}) > (${sql.join(key.map((name) => sql`${after[name]}`))})` : sql``
    const { rows } = await sql<Row>`
      SELECT ${names} FROM ${sql.table(table.name)} ${rest} ORDER BY ${order} LIMIT ${limit}`.execute(db)
    if (!rows.length) return
    const page = rows.map(rowText)
    yield page
    if (rows.length < limit) return
    last = rows.at(-1) as Row
    const length = page.reduce((sum, text) => sum + text.length, 0)
    limit = Math.max(1, Math.min(max_rows, Math.floor((max_characters * rows.length) / length)))
  }
}

// Old stored answers of receivers may contain NUL, which PostgreSQL cannot store.
function rowText(row: Row): string {
  const text = JSON.stringify(row)
  if (!text.includes('\\u0000')) return text
  return JSON.stringify(row, (_, value) => (typeof value === 'string' ? storable(value) : value))
}

export async function writePage(tx: Tx, table: Table, columns: StoredColumns, page: RowPage): Promise<void> {
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)))
  const rows = recordset(tx, `[${page.join(',')}]`, columns)
  await sql`INSERT INTO ${sql.table(table.name)} (${names}) SELECT ${names} FROM ${rows} AS r`.execute(tx)
}

/** The number of rows, and a checksum that does not depend on their order. */
export type Sum = { rows: number; checksum: string }

/**
 * Sums up rows: the SHA-256 of each row, cut to 128 bits and added as four numbers. A hash over all rows would need one
 * order, but engines and collations order texts differently.
 */
export function createSum() {
  const parts = new Uint32Array(4)
  let rows = 0
  return {
    add(page: RowPage) {
      rows += page.length
      for (const text of page) {
        const digest = hash('sha256', text, 'buffer')
        for (let part = 0; part < 4; part++)
          parts[part] = (parts[part] as number) + digest.readUInt32BE(part * 4)
      }
    },
    result: (): Sum => ({
      rows,
      checksum: Array.from(parts, (part) => part.toString(16).padStart(8, '0')).join(''),
    }),
  }
}
