import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { engineOf } from '../../db/tx.ts'
import { small_body_bytes } from './capacity.ts'

/** A row of the queue that may be claimed, with what an attempt needs of its delivery and its event. */
export type Due = {
  workspace_id: number
  delivery_id: string
  webhook_id: string
  kind: 'event' | 'backfill' | 'resend' | 'ping'
  tries: number
  /** For a delivery of an ordered webhook: its record. */
  record_key: string | null
  event: string
  event_id: string
  /** The form of the body; null: the envelope. */
  format: string | null
  /** When the delivery was written, in the transaction of its event; ISO 8601. */
  created_at: string
  /** 1 for a ping or an example event, whose outcome does not change the webhook's status; otherwise 0. */
  is_test: number
  /** The number of the event. */
  seq: number
  /** The trace context of the request that wrote the event. */
  traceparent: string | null
  /** The size of the payload. */
  bytes: number
  /** Null if the search did not read it. */
  payload: string | null
}

/** A search for due deliveries of a webhook. */
export type Search = { workspace_id: number; webhook_id: string; elapsed_ms: number; limit: number }

// A body up to this size always fits, so its payload is never read in vain.
const payloads = {
  all: sql`e.payload`,
  small: sql`CASE WHEN octet_length(e.payload) <= ${sql.lit(small_body_bytes)} THEN e.payload END`,
  none: sql`NULL`,
}

/** The columns of Due, of the tables in `queued`. Both engines know the size of a payload without reading it. */
export const dueColumns = (read: keyof typeof payloads): RawBuilder<unknown> => sql`
  q.workspace_id, q.delivery_id, q.webhook_id, q.kind, q.tries, q.record_key,
  d.event, d.event_id, d.format, d.created_at,
  CASE WHEN e.event = 'ping' THEN 1 ELSE 0 END AS is_test, e.seq, e.traceparent,
  octet_length(e.payload) AS bytes, ${payloads[read]} AS payload`

/**
 * The payloads that a search for rows to claim reads. On PostgreSQL, it could read a payload, wait while an erasure
 * rewrites it, and then lock the row. So a later statement reads the payloads there.
 */
export const toRead = (db: Db) => (engineOf(db) === 'sqlite' ? 'small' : 'none')

/** The queue with its deliveries and events. */
export const queued = sql`webhook_queue AS q
  JOIN webhook_deliveries AS d ON d.workspace_id = q.workspace_id AND d.id = q.delivery_id
  JOIN events AS e ON e.workspace_id = d.workspace_id AND e.id = d.event_id`

/**
 * A search, oldest first. On PostgreSQL, concurrent claims skip each other's locked rows. Rows of equal `run_at_ms` come
 * in the order of their ids, which is also the index's order.
 */
export function dueOf<Row = Due>(db: Db, p: Search, columns: RawBuilder<unknown>, but = sql``) {
  return sql<Row>`SELECT ${columns} FROM ${queued} WHERE ${isDue(p)} ${but}
        ORDER BY ${alongIndex(db)} LIMIT ${p.limit} ${locked(db)}`
}

// The end of the queue that a search for the newest reads. SQLite reads it in 2 ms.
const newest_read = 1000

/** A search, newest first. First attempts come before retries, which have failed before. */
export function newestDueOf<Row = Due>(db: Db, p: Search, columns: RawBuilder<unknown>, but = sql``) {
  const order = sql`CASE WHEN q.tries > 0 THEN 1 ELSE 0 END, q.run_at_ms DESC, q.delivery_id DESC`
  const end = sql`SELECT q.delivery_id, q.tries, q.run_at_ms FROM webhook_queue AS q WHERE ${isDue(p)}
    ORDER BY ${alongIndex(db, 'DESC')} LIMIT ${sql.lit(newest_read)}`
  const newest = sql`SELECT q.delivery_id FROM (${end}) AS q ORDER BY ${order} LIMIT ${p.limit}`
  // From IN, PostgreSQL makes a join that reads all deliveries of the workspace.
  const chosen = engineOf(db) === 'sqlite' ? sql`IN (${newest})` : sql`= ANY(ARRAY(${newest}))`
  return sql<Row>`SELECT ${columns} FROM ${queued} WHERE q.workspace_id = ${p.workspace_id} AND q.claim_id IS NULL
          AND q.delivery_id ${chosen} ${but} ORDER BY ${order} ${locked(db)}`
}

const isDue = (p: Search) => sql`q.workspace_id = ${p.workspace_id} AND q.webhook_id = ${p.webhook_id}
  AND q.run_at_ms <= ${p.elapsed_ms} AND q.claim_id IS NULL`

// SQLite's index already ends with the id. Ordering by the id would add a sort.
const alongIndex = (db: Db, direction: '' | 'DESC' = '') => {
  const order = sql.raw(direction)
  return engineOf(db) === 'sqlite'
    ? sql`q.run_at_ms ${order}`
    : sql`q.run_at_ms ${order}, q.delivery_id ${order}`
}

const locked = (db: Db) => rowLock(db, 'FOR UPDATE OF q SKIP LOCKED')
