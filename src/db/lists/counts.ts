import { type SelectQueryBuilder, sql } from 'kysely'
import { prepare } from '../statements/prepare.ts'
import { prepareRows } from '../statements/recordset.ts'
import { type Db, engineOf, type Tx } from '../tx.ts'

// Exact totals of lists, updated in the same transaction as the records: counting rows gets slower with each record. A
// name, such as "contacts" or "contacts.stage=lead", says what is counted. A name has several slots, so that concurrent
// writers of a workspace do not wait for one row. SQLite has one writer and uses one slot.

/** The number of rows that a query without columns finds. It reads all of them. */
export async function countRows<DB, TB extends keyof DB>(rows: SelectQueryBuilder<DB, TB, object>) {
  const counted = rows.select((eb) => eb.fn.countAll<number>().as('n'))
  const { n } = (await counted.executeTakeFirstOrThrow()) as { n: number }
  return n
}

type Key = { workspace_id: number; name: string }
type Change = Key & { by: number }

const columns = { workspace_id: 'bigint!', name: 'text!', by: 'bigint!' } as const

// The slot of a connection. Two connections may share a slot, which only makes one wait.
const slot = (db: Db) => (engineOf(db) === 'sqlite' ? 0 : sql`pg_backend_pid() % 64`)
const add = prepareRows(
  columns,
  ({ row, values }, _, db) => sql`INSERT INTO record_counts (workspace_id, name, slot, n)
      ${values([row.workspace_id, row.name, slot(db), row.by])}
      ON CONFLICT (workspace_id, name, slot) DO UPDATE SET n = record_counts.n + excluded.n`,
)

/** Changes counts in one statement. Several changes of one name are added up. */
export async function addCounts(tx: Tx, changes: readonly Change[]): Promise<void> {
  const sums = new Map<string, Change>()
  for (const { workspace_id, name, by } of changes) {
    const key = `${workspace_id} ${name}`
    sums.set(key, { workspace_id, name, by: by + (sums.get(key)?.by ?? 0) })
  }
  // Sort, so that all writers lock rows in the same order: then they cannot deadlock.
  const all = [...sums.values()]
    .filter(({ by }) => by !== 0)
    .sort((a, b) => a.workspace_id - b.workspace_id || (a.name < b.name ? -1 : 1))
  await add(tx, all, {})
}

const sum = prepare((p: Key, db) =>
  db
    .selectFrom('record_counts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('n'), eb.lit(0)).as('n'))
    .where((eb) => eb.and({ workspace_id: p.workspace_id, name: p.name })),
)

/** The names of the counts of a record: its kind, and its kind with the value of each given field. None for null. */
function names(kind: string, fields: readonly string[], record: object | null): string[] {
  if (!record) return []
  const values = record as Record<string, unknown>
  return [
    kind,
    ...fields.filter((field) => values[field] !== null).map((field) => `${kind}.${field}=${values[field]}`),
  ]
}

/** The changes of counts for one record's change. `before` and `after` are null when the record is not live. */
export function countChanges(
  workspace_id: number,
  kind: string,
  fields: readonly string[],
  before: object | null,
  after: object | null,
): Change[] {
  const change = (by: number) => (name: string) => ({ workspace_id, name, by })
  return [...names(kind, fields, after).map(change(1)), ...names(kind, fields, before).map(change(-1))]
}

/** Updates the counts for one record's change. `before` and `after` are null when the record is not live. */
export function recount(
  tx: Tx,
  workspace_id: number,
  kind: string,
  fields: readonly string[],
  before: object | null,
  after: object | null,
): void {
  tx.rows(addCounts, countChanges(workspace_id, kind, fields, before, after))
}

const sum_of_values = prepare((p: { workspace_id: number; from: string; to: string; like: string }, db) => {
  const query = db
    .selectFrom('record_counts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('n'), eb.lit(0)).as('n'))
    .where('workspace_id', '=', p.workspace_id)
  // SQLite compares byte by byte, so a range of its key has all names that begin so.
  return engineOf(db) === 'sqlite'
    ? query.where('name', '>=', p.from).where('name', '<', p.to)
    : query.where('name', 'like', p.like)
})

/** All names of the counts of a field. */
function rangeOf(kind: string, field: string) {
  const name = `${kind}.${field}`
  // In the order of bytes, `>` follows `=`.
  return { from: `${name}=`, to: `${name}>`, like: `${name.replaceAll('_', '\\_')}=%` }
}

/** The number of live records that have any value of a counted field. It reads the totals of all values. */
export async function countWithValue(
  db: Db,
  workspace_id: number,
  kind: string,
  field: string,
): Promise<number> {
  const [row] = await sum_of_values(db, { workspace_id, ...rangeOf(kind, field) })
  return row?.n ?? 0
}

const counts_of_values = prepare(
  (p: { workspace_id: number; from: string; to: string; like: string }, db) => {
    const query = db
      .selectFrom('record_counts')
      .select((eb) => ['name', eb.fn.sum<number>('n').as('n')])
      .where('workspace_id', '=', p.workspace_id)
      .groupBy('name')
      .having((eb) => eb.fn.sum<number>('n'), '>', 0)
    return engineOf(db) === 'sqlite'
      ? query.where('name', '>=', p.from).where('name', '<', p.to)
      : query.where('name', 'like', p.like)
  },
)

/** The numbers of live records with each value of a counted field, as a text. Records without a value are not among them. */
export async function countsOfValues(db: Db, workspace_id: number, kind: string, field: string) {
  const { from, ...range } = rangeOf(kind, field)
  const rows = await counts_of_values(db, { workspace_id, from, ...range })
  return rows.map(({ name, n }) => ({ value: name.slice(from.length), n }))
}

/** The number of live records under a name. */
export async function countOf(db: Db, workspace_id: number, name: string): Promise<number> {
  const [row] = await sum(db, { workspace_id, name })
  return row?.n ?? 0
}

/** The number of live records under a name, as an expression of a larger statement. */
export const storedCount = (workspace_id: number, name: string) =>
  sql`(SELECT coalesce(sum(n), 0) FROM record_counts WHERE workspace_id = ${workspace_id} AND name = ${sql.lit(name)})`
