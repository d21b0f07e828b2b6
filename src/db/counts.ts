import type { Db } from './db.ts'
import { prepare } from './prepare.ts'

// Exact totals of lists are kept beside the records, in the same transaction: counting rows would cost more with each
// record. A name says what is counted: "contacts", "contacts.stage=lead". Several slots for one name keep concurrent
// writers of one workspace off the same row; SQLite has one writer and needs one.

type Key = { workspace_id: number; name: string }

/** Moves one count by a number, for changes of many records at once. */
export const addCount = prepare((db, p: Key & { by: number }) =>
  db
    .insertInto('record_counts')
    .values({ workspace_id: p.workspace_id, name: p.name, slot: 0, n: p.by })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'name', 'slot']).doUpdateSet((eb) => ({
        n: eb('record_counts.n', '+', p.by),
      })),
    ),
)

const sum = prepare((db, p: Key) =>
  db
    .selectFrom('record_counts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('n'), eb.lit(0)).as('n'))
    .where('workspace_id', '=', p.workspace_id)
    .where('name', '=', p.name),
)

/** The names that count a record: its kind, and its kind with each of the given fields' values; none for no record. */
function names(kind: string, fields: readonly string[], record: object | null): string[] {
  if (!record) return []
  const values = record as Record<string, unknown>
  return [
    kind,
    ...fields.filter((field) => values[field] !== null).map((field) => `${kind}.${field}=${values[field]}`),
  ]
}

/** Moves the counts of one record from its state before to its state after; null where it is not live. */
export async function recount(
  tx: Db,
  workspace_id: number,
  kind: string,
  fields: readonly string[],
  before: object | null,
  after: object | null,
): Promise<void> {
  const old = names(kind, fields, before)
  const current = names(kind, fields, after)
  for (const name of current) if (!old.includes(name)) await addCount(tx, { workspace_id, name, by: 1 })
  for (const name of old) if (!current.includes(name)) await addCount(tx, { workspace_id, name, by: -1 })
}

/** How many live records a name counts. */
export async function countOf(db: Db, workspace_id: number, name: string): Promise<number> {
  const [row] = await sum(db, { workspace_id, name })
  return Number(row?.n ?? 0)
}
