import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { lastSeq } from '../../db/event-order.ts'
import { isSubscribed } from '../../db/subscriptions.ts'
import { type Failed, failedCondition } from '../../events/conditions.ts'

// What each webhook asked for, by the seq of events. So it can be said later why a webhook did not get an event, and
// nothing is written for an event that a webhook does not get.

type Webhook = { workspace_id: number; id: string }

/** Stores what a webhook asks for from the next event on. Call it after the webhook was added or changed. */
export async function keepRegistration(tx: Db, { workspace_id, id }: Webhook): Promise<void> {
  await put(tx, { workspace_id, id }, await nextSeq(tx))
}

/** Stores what a webhook of an older version asked for until now. Call it before a change. */
export async function keepOldRegistration(tx: Db, { workspace_id, id }: Webhook): Promise<void> {
  const kept = await tx
    .selectFrom('webhook_registrations')
    .select('from_seq')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  if (!kept) await put(tx, { workspace_id, id }, 0)
}

/** Stores that a webhook is deleted from the next event on. */
export async function endRegistration(tx: Db, { workspace_id, id }: Webhook): Promise<void> {
  const end = { workspace_id, webhook_id: id, from_seq: await nextSeq(tx), events: null, conditions: null }
  await tx
    .insertInto('webhook_registrations')
    .values(end)
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'webhook_id', 'from_seq'])
        .doUpdateSet({ events: null, conditions: null }),
    )
    .execute()
}

const nextSeq = async (tx: Db) => (await lastSeq(tx)) + 1

// Without events between two changes, the later one replaces the earlier one.
const put = (tx: Db, { workspace_id, id }: Webhook, from_seq: number) =>
  sql`INSERT INTO webhook_registrations (workspace_id, webhook_id, from_seq, events, conditions)
    SELECT w.workspace_id, w.id, CAST(${from_seq} AS bigint), w.events, w.conditions FROM webhooks AS w
    WHERE w.workspace_id = ${workspace_id} AND w.id = ${id}
    ON CONFLICT (workspace_id, webhook_id, from_seq)
    DO UPDATE SET events = excluded.events, conditions = excluded.conditions`.execute(tx)

/** What a webhook asked for. `events` is null when it did not exist: it was created later, or deleted before. */
export type Registration = { webhook_id: string; events: string[] | null; conditions: string | null }

/**
 * What the webhooks of a workspace asked for at the event with this seq. `before` is the registration before that one: a
 * change that committed while the transaction of the event ran may not have been seen by it.
 */
export async function registrationsAt(
  db: Db,
  workspace_id: number,
  seq: number,
): Promise<{ at: Registration; before: Registration }[]> {
  const rows = await db
    .selectFrom('webhook_registrations')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .orderBy('webhook_id')
    .orderBy('from_seq', 'desc')
    .execute()
  const by_webhook = Map.groupBy(rows, ({ webhook_id }) => webhook_id)
  // Webhooks of an older version that never changed.
  const others = await db
    .selectFrom('webhooks')
    .select(['id as webhook_id', 'events', 'conditions'])
    .where('workspace_id', '=', workspace_id)
    .execute()
  const registration = (
    row: { events: string | null; conditions: string | null } | undefined,
    id: string,
  ) => ({
    webhook_id: id,
    events: row?.events ? (JSON.parse(row.events) as string[]) : null,
    conditions: row?.conditions ?? null,
  })
  const unchanged = others.filter(({ webhook_id }) => !by_webhook.has(webhook_id))
  return [
    ...[...by_webhook].map(([id, all]) => {
      const [at, before] = all.filter(({ from_seq }) => from_seq <= seq)
      return { at: registration(at, id), before: registration(before, id) }
    }),
    ...unchanged.map((row) => ({
      at: registration(row, row.webhook_id),
      before: registration(row, row.webhook_id),
    })),
  ]
}

/** Why a registration leaves an event out; null if it asks for the event. */
export function reasonAgainst(
  { events, conditions }: Registration,
  event: string,
  payload: object,
): 'no_webhook' | 'not_subscribed' | Failed | null {
  if (events === null) return 'no_webhook'
  if (!isSubscribed(events, event)) return 'not_subscribed'
  return conditions === null ? null : failedCondition(conditions, payload)
}

/** Removes a batch of registrations that no stored event met; returns how many. */
export async function removeOldRegistrations(tx: Db, limit: number): Promise<number> {
  const first = await tx
    .selectFrom('events')
    .select((eb) => eb.fn.min('seq').as('seq'))
    .executeTakeFirst()
  const oldest = Number(first?.seq ?? (await nextSeq(tx)))
  const old = await sql<{ workspace_id: number; webhook_id: string; from_seq: number }>`
    SELECT r.workspace_id, r.webhook_id, r.from_seq FROM webhook_registrations AS r
    WHERE r.from_seq <= ${oldest} AND (r.events IS NULL OR EXISTS (
      SELECT 1 FROM webhook_registrations AS n
      WHERE n.workspace_id = r.workspace_id AND n.webhook_id = r.webhook_id
        AND n.from_seq > r.from_seq AND n.from_seq <= ${oldest}))
    ORDER BY r.workspace_id, r.webhook_id, r.from_seq LIMIT ${limit}`.execute(tx)
  for (const { workspace_id, webhook_id, from_seq } of old.rows)
    await tx
      .deleteFrom('webhook_registrations')
      .where('workspace_id', '=', workspace_id)
      .where('webhook_id', '=', webhook_id)
      .where('from_seq', '=', from_seq)
      .execute()
  return old.rows.length
}
