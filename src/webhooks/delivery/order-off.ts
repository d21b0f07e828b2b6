import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { afterEarlierWrites, rowLock, tryLockRow } from '../../db/locks.ts'
import type { WorkSteps } from '../../work/run.ts'

// A webhook that is no longer ordered still has queue rows that wait for earlier rows of their record. This file removes
// the order from them, a batch at a time.

const release_batch = 200
// A transaction that read the webhook before may still add such rows for its events.
const haveEnded = afterEarlierWrites()

export const orderWork: WorkSteps = {
  kind: 'webhook_order',
  async step(tx, work) {
    const { workspace_id, subject: webhook_id, context } = work
    // The lock of the webhook comes first, as in claims. It may have become ordered again.
    if (!(await tryLockRow(tx, 'webhooks', workspace_id, webhook_id))) return 'later'
    const are_last = await haveEnded(tx, work)
    if (await releaseRows(tx, { workspace_id, webhook_id }, context.elapsed())) return {}
    return are_last ? 'done' : 'later'
  },
}

type Webhook = { workspace_id: number; webhook_id: string }

/**
 * Removes the order from up to 200 rows of a webhook; returns how many. A row that waits for its own retry keeps its time. A
 * row in flight keeps its record until it is due again.
 */
async function releaseRows(tx: Tx, { workspace_id, webhook_id }: Webhook, elapsed_ms: number) {
  const of_postgres = rowLock(tx, 'FOR UPDATE SKIP LOCKED')
  const { numAffectedRows = 0n } = await sql`
    UPDATE webhook_queue SET record_key = NULL, order_seq = NULL,
      run_at_ms = CASE WHEN tries = 0 AND run_at_ms > ${elapsed_ms} THEN ${elapsed_ms} ELSE run_at_ms END
    WHERE workspace_id = ${workspace_id} AND delivery_id IN (
      SELECT q.delivery_id FROM webhook_queue AS q
      WHERE q.webhook_id = ${webhook_id} AND q.record_key IS NOT NULL AND q.claim_id IS NULL
        AND (SELECT w.ordered FROM webhooks AS w WHERE w.workspace_id = ${workspace_id} AND w.id = ${webhook_id}) = 0
      LIMIT ${sql.lit(release_batch)} ${of_postgres})`.execute(tx)
  const released = Number(numAffectedRows)
  if (released) tx.announce('deliveries')
  return released
}
