import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, isoTime, repeat, type Timing } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { addCounts, countChanges } from '../../db/lists/counts.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { removeOldAnswers } from '../../http/idempotency.ts'

const day_ms = 24 * 3600 * 1000
/** When the log is cleaned: after the start, and from then on. */
export const cleaning: Timing = { first_ms: 10_000, every_ms: 3600 * 1000 }
// Small enough that no request waits noticeably for its transaction.
const batch = 200
// So many events are looked at in about 3 ms.
const seen_at_once = 1000

/**
 * Removes what is older than the log is kept: finished deliveries with their attempts, and events nobody needs; and the
 * answers of idempotency keys after their day. May be stopped between two batches.
 */
export async function removeOld(db: Db, clock: Clock, days: number, stopping?: AbortSignal): Promise<void> {
  const before = isoTime(clock.now() - days * day_ms)
  const inOne = <T>(work: (tx: Db) => Promise<T>): Promise<T> => {
    stopping?.throwIfAborted()
    return transaction(db, work)
  }
  while ((await inOne((tx) => removeOldDeliveries(tx, before, batch))) === batch);
  let seq: number | null = 0
  while (seq !== null) {
    seq = await removeOldEvents(db, before, seq, inOne)
    stopping?.throwIfAborted()
    await turn()
  }
  while ((await inOne((tx) => removeOldAnswers(tx, clock.elapsed(), batch))) === batch);
}

/** Removes old entries soon and every hour; returns the function that stops it. */
export const startRetention = (
  db: Db,
  clock: Clock,
  days: number,
  onError: (error: unknown) => void,
  timing = cleaning,
) => repeat((stopping) => removeOld(db, clock, days, stopping), timing, onError)

const delivery_columns = { workspace_id: 'bigint!', id: 'text!' } as const
const removal = (table: string, id: string) =>
  prepareRows(delivery_columns, (db, { row, rows }) => ({
    compile: () =>
      sql`DELETE FROM ${sql.table(table)} AS t ${rows('USING')}
        WHERE t.workspace_id = ${row.workspace_id} AND t.${sql.ref(id)} = ${row.id}`.compile(db),
  }))
const removeAttempts = removal('webhook_attempts', 'delivery_id')
const removeDeliveries = removal('webhook_deliveries', 'id')

/** Removes up to `limit` deliveries that were finished before a time, with their attempts; returns how many. */
async function removeOldDeliveries(tx: Db, before: string, limit: number): Promise<number> {
  const finished = tx
    .selectFrom('webhook_deliveries')
    .select(['workspace_id', 'id', 'webhook_id', 'event', 'status'])
    .where('finished_at', '<', before)
    .orderBy('finished_at')
    .limit(limit)
  // Another process may clean at the same time: each takes others, and what it has taken stays finished and is its own.
  const old = await (engineOf(tx) === 'postgres' ? finished.forUpdate().skipLocked() : finished).execute()
  if (!old.length) return 0
  await removeAttempts(tx, old, {})
  await removeDeliveries(tx, old, {})
  const counted = ['webhook_id', 'event', 'status']
  await addCounts(
    tx,
    old.flatMap((delivery) => countChanges(delivery.workspace_id, 'deliveries', counted, delivery, null)),
  )
  return old.length
}

const seq_columns = { seq: 'bigint!' } as const
const removeEvents = prepareRows(seq_columns, (db, { row, rows }) => ({
  compile: () => sql`DELETE FROM events AS t ${rows('USING')} WHERE t.seq = ${row.seq}`.compile(db),
}))

/**
 * Looks at some events of before a time, from a place on, and removes those that no delivery refers to, which none ever
 * will; returns the place to go on from, or null at the end. What a paused webhook keeps is only read, and each run once.
 */
async function removeOldEvents(
  db: Db,
  before: string,
  after: number,
  inOne: (work: (tx: Db) => Promise<void>) => Promise<void>,
): Promise<number | null> {
  // Events are stored in the order of their times, so the first recent one ends the search.
  const events = await db
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
    .limit(seen_at_once)
    .execute()
  const old = events.filter((event) => event.occurred_at < before)
  const unneeded = old.filter((event) => !event.needed)
  for (let from = 0; from < unneeded.length; from += batch)
    await inOne(async (tx) => void (await removeEvents(tx, unneeded.slice(from, from + batch), {})))
  return old.length === seen_at_once ? (old.at(-1)?.seq ?? null) : null
}
