import { sql } from 'kysely'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { lockRow, rowLock } from '../../db/locks.ts'

// A webhook that is no longer ordered still has queue rows that wait for earlier rows of their record. This file removes
// the order from them, a batch at a time.

const release_batch = 200

type Webhook = { workspace_id: number; webhook_id: string }

/** Finds a webhook that is no longer ordered and still has such rows. */
export async function webhookToRelease(db: Db): Promise<Webhook | undefined> {
  // Most often, no row of the queue has a record. The subquery for each webhook keeps both engines from reading the whole
  // queue for a join.
  const { rows } = await sql<Webhook>`SELECT w.workspace_id, w.id AS webhook_id FROM webhooks AS w
    WHERE EXISTS (SELECT 1 FROM webhook_queue WHERE record_key IS NOT NULL) AND w.ordered = 0 AND (
      SELECT 1 FROM webhook_queue AS q
      WHERE q.webhook_id = w.id AND q.record_key IS NOT NULL AND q.claim_id IS NULL LIMIT 1) = 1
    LIMIT 1`.execute(db)
  return rows[0]
}

/** Removes the order from up to 200 rows of a webhook; returns how many. */
export const releaseSome = (db: Db, webhook: Webhook, elapsed_ms: number): Promise<number> =>
  transaction(db, async (tx) => {
    // The lock of the webhook comes first, as in claims. It may have become ordered again.
    await lockRow(tx, 'webhooks', webhook.workspace_id, webhook.webhook_id)
    return releaseRows(tx, webhook, elapsed_ms)
  })

/**
 * Like releaseSome, in a transaction that has locked the webhook. A row that waits for its own retry keeps its time. A row in
 * flight keeps its record until it is due again.
 */
export async function releaseRows(tx: Tx, { workspace_id, webhook_id }: Webhook, elapsed_ms: number) {
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
  if (released === release_batch) tx.announce('backlog')
  return released
}
