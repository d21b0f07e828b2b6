import { sql } from 'kysely'
import type { Db } from './db.ts'
import { prepare } from './statements/prepare.ts'
import { prepareInsert } from './statements/recordset.ts'
import { engineOf, type Tx } from './tx.ts'

// Readers follow the events of a workspace by seq, so no event may appear below a seq that was already read. SQLite has
// one writer, so seqs commit in order. On PostgreSQL, a transaction inserts its events right before its commit. It
// holds a lock that only one transaction of the workspace has. So a later commit of a workspace never has a smaller
// seq.

// An advisory lock number that nothing else on the same database uses. The second number has 31 bits: two workspaces that
// share it only wait for each other.
const turn_lock = 7_239_052
const lock_mask = sql.lit(2 ** 31 - 1)

type NewEvent = {
  id: string
  workspace_id: number
  event: string
  occurred_at: string
  record_id: number | null
  payload: string
  traceparent: string | null
  webhook_id: string | null
}

const kinds = {
  id: 'text!',
  workspace_id: 'bigint!',
  event: 'text!',
  occurred_at: 'text!',
  record_id: 'bigint',
  payload: 'text!',
  traceparent: 'text',
  webhook_id: 'text',
} as const
const columns = Object.keys(kinds)
const insert = prepareInsert('events', kinds)

const takeTurn = (workspace_id: number) =>
  sql`SELECT pg_advisory_xact_lock(${sql.lit(turn_lock)}, (${workspace_id}::bigint & ${lock_mask})::int)`

const lock = prepare((p: { workspace_id: number }) => takeTurn(p.workspace_id))

// MATERIALIZED makes PostgreSQL take the lock before the INSERT assigns the seq.
const lockAndInsert = prepare(
  (p: NewEvent) => sql`WITH turn AS MATERIALIZED (${takeTurn(p.workspace_id)})
      INSERT INTO events (${sql.join(columns.map((name) => sql.ref(name)))})
      SELECT ${p.id}, ${p.workspace_id}::bigint, ${p.event}, ${p.occurred_at}, ${p.record_id}::bigint, ${p.payload}, ${p.traceparent}, ${p.webhook_id}
      FROM turn`,
)

/**
 * Inserts events, in their order. Within a workspace, seq grows in the order of commits, also beside concurrent writers.
 * PostgreSQL gets the events together with the COMMIT, so a transaction does not find its own.
 */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (tx.engine === 'sqlite') await insert(tx, events)
  else tx.atCommit(insertInTurn, events)
}

async function insertInTurn(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  const [event] = events
  if (event && events.length === 1) return void (await lockAndInsert(tx, event))
  // Sorted, so that two transactions cannot deadlock.
  const workspaces = [...new Set(events.map(({ workspace_id }) => workspace_id))].sort((a, b) => a - b)
  // Sent together, and run in this order.
  await Promise.all([...workspaces.map((workspace_id) => lock(tx, { workspace_id })), insert(tx, events)])
}

// PostgreSQL names the sequence after its table and column.
const lastOnPostgres = prepare(
  (_: object) =>
    sql<{ seq: number }>`
      SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS seq FROM events_seq_seq`,
)

const lastOnSqlite = prepare(
  (_: object) => sql<{ seq: number }>`SELECT seq FROM sqlite_sequence WHERE name = 'events'`,
)

/** The highest assigned seq of all workspaces; 0 before the first event. Its transaction may be open. */
export async function lastSeq(db: Db): Promise<number> {
  const [found] = await (engineOf(db) === 'sqlite' ? lastOnSqlite : lastOnPostgres)(db, {})
  return found?.seq ?? 0
}
