import { type Clock, isoTime } from '../clock.ts'
import { recount } from '../db/counts.ts'
import { type Db, transaction } from '../db/db.ts'

const every_ms = 3600 * 1000
const day_ms = 24 * 3600 * 1000
// Small enough that no request waits noticeably for its transaction.
const batch = 200

/** Removes what is older than the log is kept: finished deliveries with their attempts, and events nobody needs. */
export async function removeOld(db: Db, clock: Clock, days: number): Promise<void> {
  const before = isoTime(clock.now() - days * day_ms)
  while ((await transaction(db, (tx) => removeOldDeliveries(tx, before, batch))) === batch);
  while ((await transaction(db, (tx) => removeOldEvents(tx, before, batch))) === batch);
}

/** Removes old entries now and every hour; returns the function that stops it. */
export function startRetention(
  db: Db,
  clock: Clock,
  days: number,
  onError: (error: unknown) => void,
): () => void {
  const run = () => void removeOld(db, clock, days).catch(onError)
  const first = setTimeout(run, 10_000)
  const timer = setInterval(run, every_ms)
  for (const one of [first, timer]) one.unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}

/** Removes up to `limit` deliveries that were finished before a time, with their attempts; returns how many. */
async function removeOldDeliveries(tx: Db, before: string, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('webhook_deliveries')
    .select(['workspace_id', 'id', 'webhook_id', 'event', 'status'])
    .where('finished_at', '<', before)
    .limit(limit)
    .execute()
  for (const delivery of old) {
    const { workspace_id, id } = delivery
    await tx
      .deleteFrom('webhook_attempts')
      .where('workspace_id', '=', workspace_id)
      .where('delivery_id', '=', id)
      .execute()
    await tx
      .deleteFrom('webhook_deliveries')
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', id)
      .execute()
    await recount(tx, workspace_id, 'deliveries', ['webhook_id', 'event', 'status'], delivery, null)
  }
  return old.length
}

/** Removes up to `limit` events of before a time that no delivery refers to any more; returns how many. */
async function removeOldEvents(tx: Db, before: string, limit: number): Promise<number> {
  // Events are stored in the order of their times, so only those before the first recent one need be looked at.
  const recent = await tx
    .selectFrom('events')
    .select('seq')
    .where('occurred_at', '>=', before)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  const result = await tx
    .deleteFrom('events')
    .where('seq', 'in', (seqs) =>
      seqs
        .selectFrom('events as e')
        .select('e.seq')
        .where('e.seq', '<', recent?.seq ?? Number.MAX_SAFE_INTEGER)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('webhook_deliveries as d')
                .select('d.id')
                .whereRef('d.workspace_id', '=', 'e.workspace_id')
                .whereRef('d.event_id', '=', 'e.id'),
            ),
          ),
        )
        .orderBy('e.seq')
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
