import { type Clock, isoTime } from '../clock.ts'
import { recount } from '../db/counts.ts'
import { type Db, transaction } from '../db/db.ts'
import { removeOldAnswers } from '../http/idempotency.ts'

const every_ms = 3600 * 1000
const day_ms = 24 * 3600 * 1000
// Small enough that no request waits noticeably for its transaction.
const batch = 200

/**
 * Removes what is older than the log is kept: finished deliveries with their attempts, and events nobody needs; and the
 * answers of idempotency keys after their day.
 */
export async function removeOld(db: Db, clock: Clock, days: number): Promise<void> {
  const before = isoTime(clock.now() - days * day_ms)
  while ((await transaction(db, (tx) => removeOldDeliveries(tx, before, batch))) === batch);
  let seq: number | null = 0
  while (seq !== null) {
    const after: number = seq
    seq = await transaction(db, (tx) => removeOldEvents(tx, before, after, batch))
  }
  while ((await transaction(db, (tx) => removeOldAnswers(tx, clock.now(), batch))) === batch);
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

/**
 * Looks at up to `limit` events of before a time, from a place on, and removes those that no delivery refers to any more;
 * returns the place to go on from, or null at the end. So events that a paused webhook keeps are looked at once.
 */
async function removeOldEvents(tx: Db, before: string, after: number, limit: number): Promise<number | null> {
  // Events are stored in the order of their times, so the first recent one ends the search.
  const events = await tx
    .selectFrom('events as e')
    .select(['e.seq', 'e.occurred_at'])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('webhook_deliveries as d')
            .select('d.id')
            .whereRef('d.workspace_id', '=', 'e.workspace_id')
            .whereRef('d.event_id', '=', 'e.id'),
        )
        .as('needed'),
    )
    .where('e.seq', '>', after)
    .orderBy('e.seq')
    .limit(limit)
    .execute()
  const old = events.filter((event) => event.occurred_at < before)
  const unneeded = old.filter((event) => !event.needed).map((event) => event.seq)
  if (unneeded.length) await tx.deleteFrom('events').where('seq', 'in', unneeded).execute()
  return old.length === limit ? (old.at(-1)?.seq ?? null) : null
}
