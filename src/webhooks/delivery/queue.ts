import { setImmediate as turn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { engineOf } from '../../db/tx.ts'

/** A webhook with queued deliveries. `run_at_ms` is the service time at which its first delivery is due. */
export type QueueHead = {
  webhook_id: string
  workspace_id: number
  run_at_ms: number
  max_per_second: number | null
  ordered: 0 | 1
}

// One index lookup for each webhook: the length of one webhook's backlog does not slow the others.
const heads = sql<QueueHead>`
  WITH RECURSIVE hop (webhook_id) AS (
    SELECT min(webhook_id) FROM webhook_queue
    UNION ALL
    SELECT (SELECT min(q.webhook_id) FROM webhook_queue q WHERE q.webhook_id > hop.webhook_id)
    FROM hop WHERE hop.webhook_id IS NOT NULL
  )
  SELECT w.id AS webhook_id, w.workspace_id, w.max_per_second, w.ordered, w.paced_until_ms,
    (SELECT min(q.run_at_ms) FROM webhook_queue q WHERE q.webhook_id = w.id) AS run_at_ms
  FROM hop JOIN webhooks w ON w.id = hop.webhook_id WHERE w.status <> 'paused'`

const firstHeads = prepare(
  (p: { limit: number }) => sql<QueueHead>`SELECT webhook_id, workspace_id, max_per_second, ordered,
      CASE WHEN paced_until_ms > run_at_ms THEN paced_until_ms ELSE run_at_ms END AS run_at_ms
      FROM (${heads}) AS head ORDER BY 5 LIMIT ${p.limit}`,
)

/**
 * The webhooks that have queued deliveries and are not paused, by `run_at_ms`, at most `limit`. A webhook that has reached
 * its `max_per_second` is due when the next delivery may start.
 */
export const queueHeads = (db: Db, limit: number): Promise<QueueHead[]> => firstHeads(db, { limit })

/** Makes every leased delivery due now. Call it only at the start of the only process on a database. */
export async function reclaimAll(tx: Tx, elapsed_ms: number): Promise<void> {
  await tx
    .updateTable('webhook_queue')
    .set({ run_at_ms: elapsed_ms })
    .where('claim_id', 'is not', null)
    .execute()
}

// Counting more deliveries of paused webhooks, or more groups of waiting ones, would block the event loop on SQLite.
const max_counted = 100_000
// SQLite counts a slice of this size in about 2 ms.
const slice_size = 20_000

type Webhook = { workspace_id: number; webhook_id: string }
type QueuePosition = { run_at_ms: number; delivery_id: string }

/**
 * Counts a webhook's queued deliveries that are due by `until_ms`. SQLite counts them in slices, so the time of one
 * statement does not grow with the backlog.
 */
export async function countQueued(
  db: Db,
  { workspace_id, webhook_id }: Webhook,
  until_ms = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const queued = sql`FROM webhook_queue
    WHERE webhook_id = ${webhook_id} AND workspace_id = ${workspace_id} AND run_at_ms <= ${until_ms}`
  const count = async (from: RawBuilder<unknown>) =>
    Number((await sql<{ n: number }>`SELECT count(*) AS n ${from}`.execute(db)).rows[0]?.n)
  // A webhook has one workspace. Without that condition PostgreSQL reads the index alone, which takes half the time.
  if (engineOf(db) === 'postgres')
    return count(sql`FROM webhook_queue WHERE webhook_id = ${webhook_id} AND run_at_ms <= ${until_ms}`)
  let counted = 0
  let rest: RawBuilder<unknown> = queued
  for (;;) {
    const { rows } = await sql<QueuePosition>`SELECT run_at_ms, delivery_id ${rest}
      ORDER BY run_at_ms LIMIT 1 OFFSET ${slice_size - 1}`.execute(db)
    const [last] = rows
    if (!last) return counted + (await count(rest))
    counted += slice_size
    rest = sql`${queued}
      AND (run_at_ms, workspace_id, delivery_id) > (${last.run_at_ms}, ${workspace_id}, ${last.delivery_id})`
    // Inside a transaction, the driver yields to the event loop itself.
    if (!db.isTransaction) await turn()
  }
}

type Numbers = {
  in_flight: number
  failed: number
  paused: number
  fanouts: number
  oldest_paused_ms: number | null
}

/**
 * The queue's numbers for /metrics; ages are in seconds. Deliveries of paused webhooks are not due. They are counted
 * separately, up to 100,000. So are the groups of deliveries that wait to be inserted.
 */
export async function queueNumbers(db: Db, elapsed_ms: number) {
  const due_heads = await sql<QueueHead>`
    SELECT * FROM (${heads}) AS head WHERE run_at_ms <= ${elapsed_ms}`.execute(db)
  const { rows } = await sql<Numbers>`
    SELECT
      (SELECT count(*) FROM webhook_queue WHERE run_at_ms > ${elapsed_ms} AND claim_id IS NOT NULL) AS in_flight,
      (SELECT coalesce(sum((SELECT sum(c.n) FROM record_counts c
        WHERE c.workspace_id = w.id AND c.name = 'deliveries.status=failed')), 0) FROM workspaces w) AS failed,
      (SELECT count(*) FROM (SELECT 1 FROM webhooks w JOIN webhook_queue q ON q.webhook_id = w.id
        WHERE w.status = 'paused' LIMIT ${max_counted}) AS kept) AS paused,
      (SELECT count(*) FROM (SELECT 1 FROM work WHERE kind = 'fan_out' LIMIT ${max_counted}) AS waiting) AS fanouts,
      (SELECT min((SELECT min(q.run_at_ms) FROM webhook_queue q WHERE q.webhook_id = w.id))
        FROM webhooks w WHERE w.status = 'paused') AS oldest_paused_ms`.execute(db)
  const [found] = rows
  const age = (since_ms: number | null = null) =>
    since_ms === null ? 0 : Math.max(0, elapsed_ms - Number(since_ms)) / 1000
  return {
    due: await countDue(db, due_heads.rows, elapsed_ms),
    in_flight: Number(found?.in_flight),
    failed: Number(found?.failed),
    oldest_due_seconds: age(Math.min(elapsed_ms, ...due_heads.rows.map((head) => Number(head.run_at_ms)))),
    paused: Number(found?.paused),
    fanouts: Number(found?.fanouts),
    oldest_paused_seconds: age(found?.oldest_paused_ms),
  }
}

async function countDue(db: Db, due_heads: readonly QueueHead[], elapsed_ms: number): Promise<number> {
  if (engineOf(db) === 'sqlite') {
    let due = 0
    for (const head of due_heads) due += await countQueued(db, head, elapsed_ms)
    return due
  }
  // One round trip for all webhooks.
  const { rows } = await sql<{ due: number }>`
    SELECT coalesce(sum((SELECT count(*) FROM webhook_queue q
      WHERE q.webhook_id = head.webhook_id AND q.run_at_ms <= ${elapsed_ms})), 0) AS due
    FROM (${heads}) AS head WHERE head.run_at_ms <= ${elapsed_ms}`.execute(db)
  return Number(rows[0]?.due)
}
