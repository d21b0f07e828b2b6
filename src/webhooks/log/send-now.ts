import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'

/** A pending delivery in the queue. `run_at_ms` is service time. */
export type QueuedRow = {
  workspace_id: number
  delivery_id: string
  webhook_id: string
  run_at_ms: number
  claim_id: string | null
  record_key: string | null
  order_seq: number | null
}

/** Locks and reads the row of a pending delivery; null if the delivery is not pending. Lock the webhook first. */
export async function lockQueued(
  tx: Tx,
  workspace_id: number,
  delivery_id: string,
): Promise<QueuedRow | null> {
  const { rows } = await sql<QueuedRow>`
    SELECT workspace_id, delivery_id, webhook_id, run_at_ms, claim_id, record_key, order_seq FROM webhook_queue
    WHERE workspace_id = ${workspace_id} AND delivery_id = ${delivery_id}
    ${rowLock(tx, 'FOR UPDATE')}`.execute(tx)
  return rows[0] ?? null
}

/**
 * Makes the next attempt of a locked pending delivery due now. The attempt counts as always, and retries follow it. False
 * if an attempt is in flight, or due already.
 */
export async function sendNow(
  tx: Tx,
  { workspace_id, delivery_id, claim_id, run_at_ms }: QueuedRow,
  { now, elapsed_ms }: { now: string; elapsed_ms: number },
): Promise<boolean> {
  if (claim_id !== null || Number(run_at_ms) <= elapsed_ms) return false
  await tx
    .updateTable('webhook_queue')
    .set({ run_at_ms: elapsed_ms })
    .where((eb) => eb.and({ workspace_id, delivery_id }))
    .execute()
  await tx
    .updateTable('webhook_deliveries')
    .set({ next_attempt_at: now })
    .where((eb) => eb.and({ workspace_id, id: delivery_id }))
    .execute()
  tx.announce('deliveries')
  return true
}
