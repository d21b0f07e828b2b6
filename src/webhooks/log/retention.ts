import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { batch, inBatches } from '../../db/batches.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { addCounts, countChanges } from '../../db/lists/counts.ts'
import { rowLock } from '../../db/locks.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { removeOldAnswers } from '../../http/idempotency.ts'
import { removeOldRegistrations } from '../registration/history.ts'

// Reading this many events takes about 3 ms.
const events_at_once = 1000

/**
 * Removes what is older than `days`: finished deliveries with their attempts, and events without deliveries, with registrations that no event met. Also removes
 * the stored answers of idempotency keys after 24 h. It can be stopped between two batches.
 */
export async function removeOld(db: Db, clock: Clock, days: number, stopping?: AbortSignal): Promise<void> {
  const before = isoTime(clock.now() - days * day_ms)
  await inBatches(db, stopping, (tx) => removeOldDeliveries(tx, before))
  // Deliveries of events may wait to be inserted, since before a long pause of the service.
  const { waits_since } = await db
    .selectFrom('work')
    .select((eb) => eb.fn.min('created_at').as('waits_since'))
    .where('kind', '=', 'fan_out')
    .executeTakeFirstOrThrow()
  const until = waits_since && waits_since < before ? waits_since : before
  let seq: number | null = 0
  while (seq !== null) {
    seq = await removeOldEvents(db, until, seq, stopping)
    await turn()
  }
  await inBatches(db, stopping, (tx) => removeOldRegistrations(tx, batch))
  await inBatches(db, stopping, (tx) => removeOldAnswers(tx, clock.elapsed(), batch))
}

const delivery_columns = { workspace_id: 'bigint!', id: 'text!' } as const
const removal = (table: string, id: string) =>
  prepareRows(
    delivery_columns,
    ({ row, rows }) => sql`DELETE FROM ${sql.table(table)} AS t ${rows('USING')}
        WHERE t.workspace_id = ${row.workspace_id} AND t.${sql.ref(id)} = ${row.id}`,
  )
const removeAttempts = removal('webhook_attempts', 'delivery_id')
const removeDeliveries = removal('webhook_deliveries', 'id')

/** Removes a batch of deliveries that were finished before a time, with their attempts; returns how many. */
async function removeOldDeliveries(tx: Tx, before: string): Promise<number> {
  const finished = tx
    .selectFrom('webhook_deliveries')
    .select(['workspace_id', 'id', 'webhook_id', 'event', 'status'])
    .where('finished_at', '<', before)
    .orderBy('finished_at')
    .limit(batch)
  // Another process may remove deliveries too. Each locks different rows, and a locked delivery cannot be resent.
  const old = await finished.modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED')).execute()
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
const removeEvents = prepareRows(
  seq_columns,
  ({ row, rows }) => sql`DELETE FROM events AS t ${rows('USING')} WHERE t.seq = ${row.seq}`,
)

/**
 * Reads up to 1,000 events older than `before`, after the seq `after`. Removes those without a delivery: no delivery is
 * added later. Returns the seq to continue from, or null at the end. Each run reads the events of paused webhooks once.
 */
async function removeOldEvents(
  db: Db,
  before: string,
  after: number,
  stopping?: AbortSignal,
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
    .limit(events_at_once)
    .execute()
  const old = events.filter((event) => event.occurred_at < before)
  const unneeded = old.filter((event) => !event.needed)
  for (let from = 0; from < unneeded.length; from += batch) {
    stopping?.throwIfAborted()
    await transaction(db, (tx) => removeEvents(tx, unneeded.slice(from, from + batch), {}))
  }
  return old.length === events_at_once ? (old.at(-1)?.seq ?? null) : null
}
