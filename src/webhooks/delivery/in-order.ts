import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { engineOf } from '../../db/tx.ts'
import { type Due, dueColumns, dueOf, newestDueOf, queued, type Search, toRead } from './due.ts'

// A delivery of an ordered webhook is blocked while an earlier one of its record is queued, or any one is in flight. A
// search postpones the blocked ones that it finds, so that the next search does not read them again. The end of a
// delivery makes the next one of its record due. Claims and outcomes of an ordered webhook lock its row, so on
// PostgreSQL they do not overlap.

const sameRecord = (alias: string) =>
  sql`${sql.ref(`${alias}.webhook_id`)} = q.webhook_id AND ${sql.ref(`${alias}.record_key`)} = q.record_key`

// The time at which the delivery that blocks a row is due again, or its lease ends. Each part reads one index entry.
const blockedUntil = sql<number | null>`coalesce(
  (SELECT b.run_at_ms FROM webhook_queue AS b
    WHERE ${sameRecord('b')} AND (b.order_seq, b.delivery_id) < (q.order_seq, q.delivery_id)
    ORDER BY b.order_seq, b.delivery_id LIMIT 1),
  (SELECT c.run_at_ms FROM webhook_queue AS c WHERE ${sameRecord('c')} AND c.claim_id IS NOT NULL LIMIT 1))`

// Events of these deliveries may come before those of the queue. In the statement that finds a row: a later change of a record
// is only read where the fan-out of an earlier one is.
const isComplete = sql`AND NOT EXISTS (SELECT 1 FROM work AS f
  WHERE f.workspace_id = q.workspace_id AND f.kind = 'fan_out' AND f.subject = q.webhook_id)`

// Many of these rows may be blocked, so it reads no payloads.
const seen_columns = sql`${dueColumns('none')}, q.run_at_ms, ${blockedUntil} AS blocked_until_ms`
const lookAhead = prepare((p: Search, db) => dueOf<Seen>(db, p, seen_columns, isComplete))
const lookBack = prepare((p: Search, db) => newestDueOf<Seen>(db, p, seen_columns, isComplete))

// Limits the rows that a search reads, so that a long queue of one record does not delay a transaction.
const rows_at_once = 200
const max_reads = 10

type Options = {
  /** The lease that the caller gives the deliveries. */
  lease_ends_ms: number
  /** Records whose next delivery this transaction has just unblocked. */
  unblocked: readonly string[]
  /** How many deliveries may start, once the webhook is locked. The statement of the lock was sent before. */
  free: Promise<number>
}

/**
 * Finds due deliveries of an ordered webhook, at most one for each record: first those of the unblocked records, which need
 * no search, then the oldest.
 */
export async function findInOrder(
  tx: Tx,
  { limit: room, ...search }: Search,
  { lease_ends_ms, unblocked, free }: Options,
): Promise<Due[]> {
  const { workspace_id, webhook_id, elapsed_ms } = search
  const keys = unblocked.slice(0, room).map((record_key) => ({ workspace_id, webhook_id, record_key }))
  // Most often, no row is blocked, and the first `room` rows are enough. These statements are sent together.
  const [allowed, next, first] = await Promise.all([
    free,
    firstOf(tx, keys, { elapsed_ms }),
    keys.length < room ? lookAhead(tx, { ...search, limit: room }) : [],
  ])
  const limit = Math.min(room, allowed)
  if (next.length >= limit) return next.slice(0, Math.max(0, limit))
  return [
    ...next,
    ...(await unblockedOf(
      tx,
      { ...search, limit },
      { lease_ends_ms, next, first, looked_at: room, look: lookAhead },
    )),
  ]
}

/** Finds the newest due deliveries of an ordered webhook that are not blocked. The caller has locked the webhook. */
export async function findNewestInOrder(tx: Tx, search: Search, lease_ends_ms: number): Promise<Due[]> {
  const first = await lookBack(tx, search)
  return unblockedOf(tx, search, { lease_ends_ms, next: [], first, looked_at: search.limit, look: lookBack })
}

type Look = {
  lease_ends_ms: number
  next: readonly Due[]
  first: Seen[]
  looked_at: number
  look: typeof lookAhead
}
type Seen = Due & { run_at_ms: number; blocked_until_ms: number | null }

async function unblockedOf(
  tx: Tx,
  search: Search,
  { lease_ends_ms, next, first, looked_at, look }: Look,
): Promise<Due[]> {
  const { elapsed_ms } = search
  const limit = search.limit - next.length
  const known = new Set(next.map(({ delivery_id }) => delivery_id))
  let found = first
  let window = looked_at
  for (let reads = 1; ; reads++) {
    const free = found.filter((row) => row.blocked_until_ms === null && !known.has(row.delivery_id))
    const chosen = free.slice(0, limit)
    const taken = new Set([...next, ...chosen].map(({ record_key }) => record_key))
    const blocked = found.flatMap(({ blocked_until_ms, ...row }) => {
      if (blocked_until_ms === null) return []
      const until = taken.has(row.record_key) ? lease_ends_ms : Math.max(blocked_until_ms, elapsed_ms)
      return until > row.run_at_ms ? [{ ...row, run_at_ms: until }] : []
    })
    tx.defer(postpone(tx, blocked, {}))
    if (chosen.length === limit || found.length < window || !blocked.length || reads === max_reads)
      return chosen
    window = Math.min(4 * window, rows_at_once + 2 * limit)
    found = await look(tx, { ...search, limit: window })
  }
}

const postponed = { workspace_id: 'bigint!', delivery_id: 'text!', run_at_ms: 'bigint!' } as const
const postpone = prepareRows(
  postponed,
  ({ row, rows }) => sql`UPDATE webhook_queue AS q SET run_at_ms = ${row.run_at_ms} ${rows('FROM')}
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`,
)

const of_record = { workspace_id: 'bigint!', webhook_id: 'text!', record_key: 'text!' } as const
type OfRecord = { workspace_id: number; webhook_id: string; record_key: string }

const firstId = (
  row: { [Name in keyof OfRecord]: RawBuilder<unknown> },
) => sql`SELECT n.delivery_id FROM webhook_queue AS n
  WHERE n.webhook_id = ${row.webhook_id} AND n.record_key = ${row.record_key}
  ORDER BY n.order_seq, n.delivery_id LIMIT 1`

/** The first deliveries of records, where they are due. The caller has locked the webhook. */
const firstOf = prepareRows(of_record, ({ row, rows }, p: { elapsed_ms: number }, db) => {
  const on_sqlite = engineOf(db) === 'sqlite'
  const from = on_sqlite
    ? sql`${queued} WHERE q.delivery_id = (${firstId(row)}) AND`
    : sql`${rows('first')} LATERAL (${firstId(row)}) AS head CROSS JOIN ${queued} WHERE q.delivery_id = head.delivery_id AND`
  return sql<Due>`SELECT ${dueColumns(toRead(db))} FROM ${from}
        q.workspace_id = ${row.workspace_id} AND q.claim_id IS NULL AND q.run_at_ms <= ${p.elapsed_ms} ${isComplete}
        ${rowLock(db, 'FOR UPDATE OF q SKIP LOCKED')}`
})

// A row that waits for its own retry keeps its time.
const releaseFirst = prepareRows(of_record, ({ row, rows }, p: { elapsed_ms: number }, db) => {
  const on_sqlite = engineOf(db) === 'sqlite'
  return sql`UPDATE webhook_queue AS q SET run_at_ms = ${p.elapsed_ms}
        ${rows('FROM')} ${on_sqlite ? sql`` : sql`CROSS JOIN LATERAL (${firstId(row)}) AS head`}
        WHERE q.workspace_id = ${row.workspace_id}
          AND q.delivery_id = ${on_sqlite ? sql`(${firstId(row)})` : sql`head.delivery_id`}
          AND q.claim_id IS NULL AND q.tries = 0 AND q.run_at_ms > ${p.elapsed_ms}`
})

type Ended = { workspace_id: number; webhook_id: string; record_key: string | null }
/** A delivery that blocks later ones of its record. */
export type BlockingDelivery = OfRecord & { delivery_id: string }

const isOrdered = <Row extends Ended>(row: Row): row is Row & OfRecord => row.record_key !== null

const ended = { ...of_record, delivery_id: 'text!' } as const
const blockingOf = prepareRows(
  ended,
  ({ row, rows }) => sql<BlockingDelivery>`
      SELECT ${row.workspace_id} AS workspace_id, ${row.webhook_id} AS webhook_id, ${row.record_key} AS record_key, ${row.delivery_id} AS delivery_id
      ${rows('FROM')} WHERE EXISTS (SELECT 1 FROM webhook_queue AS n
        WHERE n.webhook_id = ${row.webhook_id} AND n.record_key = ${row.record_key} AND n.delivery_id <> ${row.delivery_id})`,
)

/** Returns those of the given deliveries that block others of their record. The caller has locked the webhooks. */
export const findBlocking = (
  tx: Tx,
  rows: readonly (Ended & { delivery_id: string })[],
): Promise<BlockingDelivery[]> => blockingOf(tx, rows.filter(isOrdered), {})

type Placed = Ended & { delivery_id: string; order_seq: number | null }

/** The id of the delivery for which a queued one of an ordered webhook waits; null if it waits for none. */
export async function findBlockerOf(tx: Tx, row: Placed): Promise<string | null> {
  const { webhook_id, record_key, order_seq, delivery_id } = row
  if (record_key === null) return null
  const { rows } = await sql<{ delivery_id: string }>`SELECT delivery_id FROM webhook_queue
    WHERE webhook_id = ${webhook_id} AND record_key = ${record_key}
      AND (order_seq, delivery_id) < (${order_seq}, ${delivery_id})
    ORDER BY order_seq, delivery_id LIMIT 1`.execute(tx)
  return rows[0]?.delivery_id ?? null
}

/** Makes the next delivery of each record due, after the given deliveries have left the queue. */
export function releaseNext(tx: Tx, ended: readonly Ended[], elapsed_ms: number): void {
  tx.defer(releaseFirst(tx, ended.filter(isOrdered), { elapsed_ms }))
}
