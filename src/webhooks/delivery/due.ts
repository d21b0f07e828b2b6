import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { engineOf } from '../../db/statements/prepare.ts'

/** A row of the queue that may be claimed; `bytes` is the size of its payload, `timeout_ms` its webhook's own. */
export type Due = {
  workspace_id: number
  delivery_id: string
  webhook_id: string
  bytes: number
  timeout_ms: number | null
}

/** A search for due deliveries of a webhook. */
export type Search = { workspace_id: number; webhook_id: string; elapsed_ms: number; limit: number }

/** The size of a delivery's payload. Both engines know it without reading the payload. */
export const payloadBytes = sql<number>`(
  SELECT octet_length(e.payload) FROM webhook_deliveries AS d
  JOIN events AS e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
  WHERE d.workspace_id = q.workspace_id AND d.id = q.delivery_id)`

/**
 * The query of a search, oldest first. On PostgreSQL, concurrent claims skip each other's locked rows. It checks `paused`
 * again: the webhook may have been paused since the poll. Rows of equal `run_at_ms` come in the order of their ids, which
 * is also the index's order.
 */
export function dueOf(db: Db, p: Search) {
  const query = db
    .selectFrom('webhook_queue as q')
    .select(['q.workspace_id', 'q.delivery_id', 'q.webhook_id', payloadBytes.as('bytes')])
    .select(({ selectFrom }) =>
      selectFrom('webhooks as own')
        .select('own.timeout_ms')
        .where('own.workspace_id', '=', p.workspace_id)
        .where('own.id', '=', p.webhook_id)
        .as('timeout_ms'),
    )
    .where('q.workspace_id', '=', p.workspace_id)
    .where('q.webhook_id', '=', p.webhook_id)
    .where('q.run_at_ms', '<=', p.elapsed_ms)
    .where('q.claim_id', 'is', null)
    .where(({ selectFrom, exists }) =>
      exists(
        selectFrom('webhooks as w')
          .select('w.id')
          .where('w.workspace_id', '=', p.workspace_id)
          .where('w.id', '=', p.webhook_id)
          .where('w.status', '<>', 'paused'),
      ),
    )
    .orderBy('q.run_at_ms')
    .limit(p.limit)
  // SQLite's index already ends with the id. Ordering by the id would add a sort.
  if (engineOf(db) === 'sqlite') return query
  // Lock the webhook too. A concurrent deletion waits for this transaction. If the deletion committed first, this query
  // finds no webhook.
  return query
    .innerJoin('webhooks as w', (join) =>
      join.on('w.workspace_id', '=', p.workspace_id).on('w.id', '=', p.webhook_id),
    )
    .orderBy('q.delivery_id')
    .modifyEnd(sql`FOR UPDATE OF q SKIP LOCKED FOR KEY SHARE OF w SKIP LOCKED`)
}
