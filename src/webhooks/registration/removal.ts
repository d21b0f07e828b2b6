import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { hasFanout } from '../../db/fanouts.ts'
import { addCounts } from '../../db/lists/counts.ts'
import { disableTimeouts, lockRow, rowLock } from '../../db/locks.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { addWork, dropWork } from '../../db/work.ts'
import type { Context } from '../../events/context.ts'
import type { WorkSteps } from '../../work/run.ts'
import { releaseNext } from '../delivery/in-order.ts'
import { countQueued } from '../delivery/queue.ts'
import { endRegistration, keepOldRegistration } from './history.ts'
import { subscribe } from './queries.ts'

/** How many deliveries one transaction cancels. It takes a few milliseconds. */
const cancel_batch = 200

type Removal = { workspace_id: number; webhook_id: string; removed_at: string }

/**
 * Deletes a webhook; its log stays. Cancels deliveries in flight and the first batch of the queue. The rest is work for later
 * transactions. Until then its row marks them as cancelled.
 */
export async function removeWebhook(tx: Tx, context: Context, id: string): Promise<void> {
  const { workspace_id, now } = context
  const removal = { workspace_id, webhook_id: id, removed_at: now }
  // Lock the webhook first. A concurrent change that found it has locked it until its commit: we wait, and then cancel its
  // delivery below. A later change waits for our commit and finds no webhook. In another order, a change between the two
  // steps could leave a delivery that is never cancelled.
  await disableTimeouts(tx)
  await lockRow(tx, 'webhooks', workspace_id, id, 'removal')
  await followIndexes(tx)
  await subscribe(tx, workspace_id, id, [])
  await dropWork(tx, workspace_id, 'backfill', id)
  tx.announce('deliveries')
  await keepOldRegistration(tx, { workspace_id, id })
  await endRegistration(tx, { workspace_id, id })
  // Delete the webhook before the queue rows: no later claim can then change the count.
  await tx
    .deleteFrom('webhooks')
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
  await dropWork(tx, workspace_id, 'resend', id)
  // Lock the queue before the log, as record() does, so the two cannot deadlock.
  const in_flight = await cancelInFlight(tx, removal)
  const first = await cancelSome(tx, removal)
  const rest = await countQueued(tx, removal)
  if (rest || (await hasFanout(tx, removal))) addWork(tx, context, { kind: 'webhook_removal', subject: id })
  const by = in_flight + first + rest
  await addCounts(tx, [
    { workspace_id, name: 'deliveries.status=pending', by: -by },
    { workspace_id, name: 'deliveries.status=cancelled', by },
  ])
}

const row_columns = { workspace_id: 'bigint!', delivery_id: 'text!' } as const
const dequeue = prepareRows(
  row_columns,
  ({ row, rows }) => sql`DELETE FROM webhook_queue AS q ${rows('USING')}
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`,
)
/** Marks deliveries of a deleted webhook as cancelled. */
// No RETURNING: SQLite would keep the old version of every page, and search all of them for each row.
export const cancel = prepareRows(
  row_columns,
  ({ row, rows }, p: { removed_at: string }) => sql`UPDATE webhook_deliveries AS d
      SET status = 'cancelled', finished_at = ${p.removed_at}, next_attempt_at = NULL ${rows('FROM')}
      WHERE d.workspace_id = ${row.workspace_id} AND d.id = ${row.delivery_id}`,
)

// Cancels claimed deliveries. Deleting their claims is the fence: an attempt in flight can then only add itself to the
// log of a cancelled delivery.
async function cancelInFlight(tx: Tx, { workspace_id, webhook_id, removed_at }: Removal): Promise<number> {
  const is_claimed = sql`workspace_id = ${workspace_id} AND webhook_id = ${webhook_id} AND claim_id IS NOT NULL`
  // record() locks its rows in this order, too. A DELETE alone follows an index, and the two could deadlock.
  if (tx.engine === 'postgres')
    await sql`SELECT 1 FROM webhook_queue WHERE ${is_claimed} ORDER BY delivery_id FOR UPDATE`.execute(tx)
  // Without the hint, SQLite reads all queued deliveries of this webhook.
  const claimed = tx.engine === 'sqlite' ? sql`INDEXED BY webhook_queue_claimed` : sql``
  const { rows } = await sql<{ workspace_id: number; delivery_id: string }>`
    DELETE FROM webhook_queue ${claimed} WHERE ${is_claimed}
    RETURNING workspace_id, delivery_id`.execute(tx)
  await cancel(tx, rows, { removed_at })
  return rows.length
}

/** Cancels up to 200 queued deliveries of a deleted webhook; returns how many. It does not change the totals. */
async function cancelSome(tx: Tx, { workspace_id, webhook_id, removed_at }: Removal): Promise<number> {
  const query = tx
    .selectFrom('webhook_queue')
    .select(['workspace_id', 'delivery_id'])
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .orderBy('run_at_ms')
    .limit(cancel_batch)
  // Skip rows that an erasure has locked. A later batch cancels them.
  const waiting = await query.modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED')).execute()
  await dequeue(tx, waiting, {})
  await cancel(tx, waiting, { removed_at })
  return waiting.length
}

/**
 * Cancels up to 200 deliveries of a webhook's backfill that wait or are in flight; returns how many. The caller has ended the
 * backfill, and has locked its work: two transactions would wait for each other's rows.
 */
export async function cancelSomeOfBackfill(
  tx: Tx,
  { workspace_id, webhook_id, removed_at }: Removal,
  elapsed_ms: number,
): Promise<number> {
  type Row = { workspace_id: number; delivery_id: string; webhook_id: string; record_key: string | null }
  // record() locks its rows in this order, too.
  const { rows } = await sql<Row>`
    SELECT workspace_id, delivery_id, webhook_id, record_key FROM webhook_queue
    WHERE workspace_id = ${workspace_id} AND delivery_id IN (
      SELECT q.delivery_id FROM webhook_queue AS q WHERE q.workspace_id = ${workspace_id}
        AND q.webhook_id = ${webhook_id} AND q.kind = 'backfill' LIMIT ${sql.lit(cancel_batch)})
    ORDER BY delivery_id ${rowLock(tx, 'FOR UPDATE')}`.execute(tx)
  await dequeue(tx, rows, {})
  await cancel(tx, rows, { removed_at })
  // Later events of these records were postponed to the retry of a delivery that no longer exists.
  releaseNext(tx, rows, elapsed_ms)
  tx.announce('deliveries')
  const by = rows.length
  await addCounts(tx, [
    { workspace_id, name: 'deliveries.status=pending', by: -by },
    { workspace_id, name: 'deliveries.status=cancelled', by },
  ])
  return by
}

/** Cancels the deliveries that are left of a deleted webhook. */
export const removalWork: WorkSteps = {
  kind: 'webhook_removal',
  async step(tx, { workspace_id, subject: webhook_id, created_at: removed_at }) {
    // Without this, PostgreSQL reads and sorts the whole queue in each step.
    await followIndexes(tx)
    const removal = { workspace_id, webhook_id, removed_at }
    if (await cancelSome(tx, removal)) return {}
    const left = await tx
      .selectFrom('webhook_queue')
      .select('delivery_id')
      .where('workspace_id', '=', workspace_id)
      .where('webhook_id', '=', webhook_id)
      .limit(1)
      .execute()
    return left.length || (await hasFanout(tx, removal)) ? 'busy' : 'done'
  },
}
