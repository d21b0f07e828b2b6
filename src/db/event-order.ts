import { sql } from 'kysely'
import type { Db } from './db.ts'
import { engineOf, prepare } from './statements/prepare.ts'
import { prepareInsert } from './statements/recordset.ts'

// Readers follow events by seq, so no event may appear below a seq that was already read. SQLite has one writer, so seqs
// commit in order. PostgreSQL assigns a seq at the insert, but transactions commit in another order. So each transaction
// holds an advisory lock until its end. The lock's number is a seq below which the transaction has no event.

// An advisory lock number that nothing else on the same database uses.
const order_lock = 7_239_052
// The second number of a lock has 31 bits, so it holds the low bits of the seq.
const seq_mask = sql.lit(2 ** 31 - 1)
const half_range = sql.lit(2 ** 30)
// PostgreSQL names the sequence after its table and column.
const last_seq = sql`SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS seq FROM events_seq_seq`

type NewEvent = {
  id: string
  workspace_id: number
  event: string
  occurred_at: string
  record_id: number | null
  payload: string
  traceparent: string | null
}

const kinds = {
  id: 'text!',
  workspace_id: 'bigint!',
  event: 'text!',
  occurred_at: 'text!',
  record_id: 'bigint',
  payload: 'text!',
  traceparent: 'text',
} as const
const columns = Object.keys(kinds)
const insert = prepareInsert('events', kinds)

// MATERIALIZED makes PostgreSQL take the lock before the INSERT assigns the seq.
const lockAndInsert = prepare((db, p: NewEvent) => ({
  compile: () =>
    sql`WITH locked AS MATERIALIZED (
        SELECT pg_advisory_xact_lock_shared(${sql.lit(order_lock)}, (last.seq & ${seq_mask})::int) FROM (${last_seq}) AS last
      )
      INSERT INTO events (${sql.join(columns.map((name) => sql.ref(name)))})
      SELECT ${p.id}, ${p.workspace_id}::bigint, ${p.event}, ${p.occurred_at}, ${p.record_id}::bigint, ${p.payload}, ${p.traceparent}
      FROM locked`.compile(db),
}))

const lock = prepare((db, _: object) => ({
  compile: () =>
    sql`SELECT pg_advisory_xact_lock_shared(${sql.lit(order_lock)}, (last.seq & ${seq_mask})::int) FROM (${last_seq}) AS last`.compile(
      db,
    ),
}))

// The transactions that hold the lock. Later events of a transaction get higher seqs, so its first lock covers them.
const locked = new WeakSet<Db>()

/** Inserts events, in their order, so that readers see them in the order of seq, also beside concurrent writers. */
export async function insertEvents(tx: Db, events: readonly NewEvent[]): Promise<void> {
  if (engineOf(tx) === 'sqlite' || locked.has(tx)) return void (await insert(tx, events))
  locked.add(tx)
  const [event] = events
  if (event && events.length === 1) return void (await lockAndInsert(tx, event))
  // Sent together, and run in this order.
  await Promise.all([lock(tx, {}), insert(tx, events)])
}

/** `last` is the highest assigned seq. No new event will appear at or below `settled`. */
type Settled = { last: number; settled: number }

// Read the last seq before the locks. A transaction with a seq up to it took its lock earlier: it is in pg_locks, or has
// ended. A lock above it belongs to a later transaction. Read the events in a later statement.
const settledOnPostgres = prepare((db, _: object) => ({
  compile: () =>
    sql<Settled>`WITH last AS MATERIALIZED (${last_seq})
      SELECT seq AS last, least(seq, (
        SELECT min(last.seq - behind) FROM (
          SELECT (last.seq - objid::bigint) & ${seq_mask} AS behind FROM pg_locks
          WHERE locktype = 'advisory' AND classid = ${sql.lit(order_lock)} AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        ) AS held WHERE behind < ${half_range}
      )) AS settled FROM last`.compile(db),
}))

const settledOnSqlite = prepare((db, _: object) => ({
  compile: () =>
    sql<Settled>`SELECT seq AS last, seq AS settled FROM sqlite_sequence WHERE name = 'events'`.compile(db),
}))

/**
 * How far events may be read in the order of seq: each event up to `settled` is committed or will never be. Query the
 * primary, and read the events in a later statement.
 */
export async function settledEvents(db: Db): Promise<Settled> {
  const [found] = await (engineOf(db) === 'sqlite' ? settledOnSqlite : settledOnPostgres)(db, {})
  return found ?? { last: 0, settled: 0 }
}
