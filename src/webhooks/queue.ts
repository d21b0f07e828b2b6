import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'

/** A webhook that waits, and when its first delivery is due, in service time. */
export type QueueHead = { webhook_id: string; workspace_id: number; run_at_ms: number }

// Hops from webhook to webhook in the index: a backlog costs nothing for the others, however long it is.
const heads = sql<QueueHead>`
  WITH RECURSIVE hop (webhook_id) AS (
    SELECT min(webhook_id) FROM webhook_queue
    UNION ALL
    SELECT (SELECT min(q.webhook_id) FROM webhook_queue q WHERE q.webhook_id > hop.webhook_id)
    FROM hop WHERE hop.webhook_id IS NOT NULL
  )
  SELECT w.id AS webhook_id, w.workspace_id,
    (SELECT min(q.run_at_ms) FROM webhook_queue q WHERE q.webhook_id = w.id) AS run_at_ms
  FROM hop JOIN webhooks w ON w.id = hop.webhook_id WHERE w.status <> 'paused'`

const firstHeads = prepare((db, p: { limit: number }) => ({
  compile: () => sql<QueueHead>`${heads} ORDER BY 3 LIMIT ${p.limit}`.compile(db),
}))

/**
 * The webhooks that wait for an attempt and are not paused, at most `limit`, the one that is due first (or has been for
 * the longest time) first; `run_at_ms` is when that is.
 */
export const queueHeads = (db: Db, limit: number): Promise<QueueHead[]> => firstHeads(db, { limit })

/** Makes every leased delivery due at once: for the start of the only process on a database. */
export async function reclaimAll(tx: Db, elapsed_ms: number): Promise<void> {
  await tx
    .updateTable('webhook_queue')
    .set({ run_at_ms: elapsed_ms })
    .where('claim_id', 'is not', null)
    .execute()
}

// Counting goes no further: it would hold the event loop on SQLite.
const most_counted = 100_000

type Numbers = {
  due: number
  in_flight: number
  oldest_ms: number | null
  failed: number
  paused: number
  oldest_paused_ms: number | null
}

/**
 * The queue's numbers for /metrics. What a paused webhook keeps is not due, but counted by itself, up to 100,000. Ages are
 * in seconds.
 */
export async function queueNumbers(db: Db, elapsed_ms: number) {
  const { rows } = await sql<Numbers>`
    SELECT
      (SELECT coalesce(sum((SELECT count(*) FROM webhook_queue q
        WHERE q.webhook_id = head.webhook_id AND q.run_at_ms <= ${elapsed_ms})), 0)
        FROM (${heads}) AS head WHERE head.run_at_ms <= ${elapsed_ms}) AS due,
      (SELECT count(*) FROM webhook_queue WHERE run_at_ms > ${elapsed_ms} AND claim_id IS NOT NULL) AS in_flight,
      (SELECT min(run_at_ms) FROM (${heads}) AS head WHERE run_at_ms <= ${elapsed_ms}) AS oldest_ms,
      (SELECT coalesce(sum((SELECT sum(c.n) FROM record_counts c
        WHERE c.workspace_id = w.id AND c.name = 'deliveries.status=failed')), 0) FROM workspaces w) AS failed,
      (SELECT count(*) FROM (SELECT 1 FROM webhooks w JOIN webhook_queue q ON q.webhook_id = w.id
        WHERE w.status = 'paused' LIMIT ${most_counted}) AS kept) AS paused,
      (SELECT min((SELECT min(q.run_at_ms) FROM webhook_queue q WHERE q.webhook_id = w.id))
        FROM webhooks w WHERE w.status = 'paused') AS oldest_paused_ms`.execute(db)
  const [found] = rows
  const age = (since_ms: number | null = null) =>
    since_ms === null ? 0 : Math.max(0, elapsed_ms - Number(since_ms)) / 1000
  return {
    due: Number(found?.due),
    in_flight: Number(found?.in_flight),
    failed: Number(found?.failed),
    oldest_due_seconds: age(found?.oldest_ms),
    paused: Number(found?.paused),
    oldest_paused_seconds: age(found?.oldest_paused_ms),
  }
}
