import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { addCounts } from '../../db/lists/counts.ts'
import { allowLong } from '../../db/locks.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { announce, engineOf } from '../../db/statements/prepare.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { countQueued } from '../delivery/queue.ts'
import { subscribe } from './queries.ts'

/** How many deliveries one transaction cancels: a few milliseconds of work. */
export const cancelled_at_once = 200

type Removal = { workspace_id: number; webhook_id: string; removed_at: string }

/**
 * Deletes a webhook; its log stays. What is on its way or first in the queue is cancelled here, and the rest in small
 * transactions afterwards (backlog.ts): until then its row in webhook_removals says that it is cancelled.
 */
export async function removeWebhook(tx: Db, workspace_id: number, id: string, now: string): Promise<void> {
  const removal = { workspace_id, webhook_id: id, removed_at: now }
  // The subscriptions come first. Where several processes write, a change that found one keeps it until its commit: this
  // waits there, and then sees its delivery below. A change that looks for one afterwards waits for this commit and finds
  // none. In another order, a change between the two steps would leave a delivery that nobody ever ends.
  await allowLong(tx)
  await followIndexes(tx)
  await subscribe(tx, workspace_id, id, [])
  announce(tx, 'deliveries')
  // Delete the webhook before the queue rows: no later claim can then change the count.
  await tx.deleteFrom('webhooks').where('workspace_id', '=', workspace_id).where('id', '=', id).execute()
  await tx
    .deleteFrom('webhook_resends')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', id)
    .execute()
  // The queue before the log, as whoever writes an outcome down does: so the two wait for, but never block each other.
  const begun = await cancelBegun(tx, removal)
  const first = await cancelSome(tx, removal)
  const rest = await countQueued(tx, removal)
  if (rest) {
    await tx.insertInto('webhook_removals').values(removal).execute()
    announce(tx, 'backlog')
  }
  const by = begun + first + rest
  await addCounts(tx, [
    { workspace_id, name: 'deliveries.status=pending', by: -by },
    { workspace_id, name: 'deliveries.status=cancelled', by },
  ])
}

const row_columns = { workspace_id: 'bigint!', delivery_id: 'text!' } as const
const dequeue = prepareRows(row_columns, (db, { row, rows }) => ({
  compile: () =>
    sql`DELETE FROM webhook_queue AS q ${rows('USING')}
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`.compile(db),
}))
// Without RETURNING: for its sake SQLite would keep every page of before, and look through all of them for each row.
const cancel = prepareRows(row_columns, (db, { row, rows }, p: { removed_at: string }) => ({
  compile: () =>
    sql`UPDATE webhook_deliveries AS d
      SET status = 'cancelled', finished_at = ${p.removed_at}, next_attempt_at = NULL ${rows('FROM')}
      WHERE d.workspace_id = ${row.workspace_id} AND d.id = ${row.delivery_id}`.compile(db),
}))

// The fence of an attempt that is on its way: its outcome finds no claim, and is an attempt of a cancelled delivery.
async function cancelBegun(tx: Db, { workspace_id, webhook_id, removed_at }: Removal): Promise<number> {
  // SQLite would look through all that waits for this webhook.
  const claimed = engineOf(tx) === 'sqlite' ? sql`INDEXED BY webhook_queue_claimed` : sql``
  const { rows } = await sql<{ workspace_id: number; delivery_id: string }>`
    DELETE FROM webhook_queue ${claimed}
    WHERE workspace_id = ${workspace_id} AND webhook_id = ${webhook_id} AND claim_id IS NOT NULL
    RETURNING workspace_id, delivery_id`.execute(tx)
  await cancel(tx, rows, { removed_at })
  return rows.length
}

/** Cancels up to 200 deliveries of a deleted webhook that wait in the queue; returns how many. Totals stay as they are. */
export async function cancelSome(tx: Db, { workspace_id, webhook_id, removed_at }: Removal): Promise<number> {
  const query = tx
    .selectFrom('webhook_queue')
    .select(['workspace_id', 'delivery_id'])
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .orderBy('run_at_ms')
    .limit(cancelled_at_once)
  // What an erasure has just locked is cancelled by the next one.
  const waiting = await (engineOf(tx) === 'postgres' ? query.forUpdate().skipLocked() : query).execute()
  await dequeue(tx, waiting, {})
  await cancel(tx, waiting, { removed_at })
  return waiting.length
}

/** Does one step of a removal that was begun; false when there is none, or another process does it. */
export async function goOnRemoving(tx: Db): Promise<boolean> {
  // PostgreSQL would read and sort the whole queue for each step.
  await followIndexes(tx)
  const query = tx.selectFrom('webhook_removals').selectAll().orderBy('removed_at').limit(1)
  const removal = await (engineOf(tx) === 'postgres'
    ? query.forUpdate().skipLocked()
    : query
  ).executeTakeFirst()
  if (!removal) return false
  const { workspace_id, webhook_id } = removal
  if (await cancelSome(tx, removal)) return true
  const left = await tx
    .selectFrom('webhook_queue')
    .select('delivery_id')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .limit(1)
    .execute()
  if (left.length) return false
  await tx
    .deleteFrom('webhook_removals')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .execute()
  return true
}
