import { sql } from 'kysely'
import type { Db } from './db.ts'
import { prepareInsert, prepareRows } from './statements/recordset.ts'
import { engineOf, type Tx } from './tx.ts'

// Deliveries of an ordered webhook are attempted one after the other for each record. Their rows of the queue have the
// record, and a place in its order: `order_seq`, then the delivery's id, which orders the deliveries of one transaction.
// On PostgreSQL, an event gets its seq at the commit. So `order_seq` is the next seq at the time of the insert. Changes of
// a record follow one another: the seq of its event before is lower, and that of this event is not.

/** The record of an event, for the order of its deliveries; null for an event of no record. */
export const recordKey = (event: string, record_id: number | null): string | null =>
  record_id === null ? null : `${event.split('.')[0]}:${record_id}`

const columns = {
  delivery_id: 'text!',
  workspace_id: 'bigint!',
  webhook_id: 'text!',
  kind: 'text!',
  run_at_ms: 'bigint!',
  tries: 'bigint!',
  record_key: 'text!',
} as const
const names = Object.keys(columns) as (keyof typeof columns)[]

// On SQLite, the events of the transaction are stored already.
const orderSeq = (db: Db) =>
  engineOf(db) === 'sqlite'
    ? sql`(SELECT seq FROM sqlite_sequence WHERE name = 'events')`
    : sql`(SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM events_seq_seq)`

const insert = prepareRows(
  columns,
  (
    { row, values },
    _,
    db,
  ) => sql`INSERT INTO webhook_queue (order_seq, ${sql.join(names.map((name) => sql.ref(name)))})
      ${values([orderSeq(db), ...names.map((name) => row[name])])}`,
)

/** Adds rows to the queue, each after all rows of its record. Call it while the records are locked. */
export const enqueueInOrder = (tx: Tx, rows: Parameters<typeof insert>[1]): Promise<unknown> =>
  insert(tx, rows, {})

/** Adds rows of stored events to the queue, whose place in the order of their record is the seq of the event. */
export const enqueueAt = prepareInsert('webhook_queue', {
  ...columns,
  record_key: 'text',
  order_seq: 'bigint',
})

/** The record of a delivery for an ordered webhook, and its place: those of its event. */
export function placeOf({ event, record_id, seq }: StoredEvent, ordered: 0 | 1) {
  const record_key = ordered ? recordKey(event, record_id) : null
  return { record_key, order_seq: record_key === null ? null : seq }
}
type StoredEvent = { event: string; record_id: number | null; seq: number }
