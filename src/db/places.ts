import { sql } from 'kysely'
import type { Db } from './db.ts'
import { engineOf, prepare } from './statements/prepare.ts'

// Events are followed by their seq, so none may appear behind one that was read already. SQLite has one writer: there the
// order of seq is the order of commits. On PostgreSQL a seq is taken when the row is written, and transactions commit in
// another order: until its end, each holds a lock whose number tells below which seq it has written nothing (docs/decisions).

// Any number that nothing else on the same database uses.
const places = 7_239_052
// A lock's second number has 31 bits: a place is told by the last bits of the seq.
const bits = sql.lit(2 ** 31 - 1)
const half = sql.lit(2 ** 30)
// Its name is that of its table and column, which nothing renames.
const last_seq = sql`SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS seq FROM events_seq_seq`

type NewEvent = {
  id: string
  workspace_id: number
  event: string
  occurred_at: string
  record_id: number | null
  payload: string
}

const columns = ['id', 'workspace_id', 'event', 'occurred_at', 'record_id', 'payload'] as const
const insert = prepare((db, p: NewEvent) =>
  db.insertInto('events').values(Object.fromEntries(columns.map((name) => [name, p[name]])) as NewEvent),
)

// Materialized: the lock is there before the row's seq is taken.
const takePlaceAndInsert = prepare((db, p: NewEvent) => ({
  compile: () =>
    sql`WITH place AS MATERIALIZED (
        SELECT pg_advisory_xact_lock_shared(${sql.lit(places)}, (last.seq & ${bits})::int) FROM (${last_seq}) AS last
      )
      INSERT INTO events (${sql.join(columns.map((name) => sql.ref(name)))})
      SELECT ${p.id}, ${p.workspace_id}::bigint, ${p.event}, ${p.occurred_at}, ${p.record_id}::bigint, ${p.payload}
      FROM place`.compile(db),
}))

// A transaction's later events lie above the place of its first.
const placed = new WeakSet<Db>()

/** Writes an event: in its order, whoever else writes at the same time. */
export async function insertEvent(tx: Db, event: NewEvent): Promise<void> {
  if (engineOf(tx) === 'sqlite' || placed.has(tx)) return void (await insert(tx, event))
  placed.add(tx)
  await takePlaceAndInsert(tx, event)
}

/** `last` is the last seq that was given to an event, `settled` the one up to which no other will appear any more. */
type Settled = { last: number; settled: number }

// The last seq before the locks: whoever took a seq up to it had its lock by then, and is found or has ended. A lock above
// it is of somebody who came later. Both numbers are read before the events, which are another statement's.
const settledOnPostgres = prepare((db, _: object) => ({
  compile: () =>
    sql<Settled>`WITH last AS MATERIALIZED (${last_seq})
      SELECT seq AS last, least(seq, (
        SELECT min(last.seq - behind) FROM (
          SELECT (last.seq - objid::bigint) & ${bits} AS behind FROM pg_locks
          WHERE locktype = 'advisory' AND classid = ${sql.lit(places)} AND objsubid = 2
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        ) AS held WHERE behind < ${half}
      )) AS settled FROM last`.compile(db),
}))

const settledOnSqlite = prepare((db, _: object) => ({
  compile: () =>
    sql<Settled>`SELECT seq AS last, seq AS settled FROM sqlite_sequence WHERE name = 'events'`.compile(db),
}))

/**
 * How far the events may be read in their order: every one up to `settled` is there or will never be. Ask the primary,
 * and read the events by a later statement.
 */
export async function settledEvents(db: Db): Promise<Settled> {
  const [found] = await (engineOf(db) === 'sqlite' ? settledOnSqlite : settledOnPostgres)(db, {})
  return found ?? { last: 0, settled: 0 }
}
