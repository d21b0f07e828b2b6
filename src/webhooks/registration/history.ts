import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { lastSeq } from '../../db/event-order.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { isSubscribed } from '../../db/subscriptions.ts'
import { type Failed, failedCondition } from '../../events/conditions.ts'

// The subscriptions and conditions of each webhook, by the seq of events. So the service can explain later why a webhook
// did not get an event. Nothing is written for such an event.

type Webhook = { workspace_id: number; id: string }

/** Stores the registration of a webhook from the next event on. Call it after the webhook was added or changed. */
export async function keepRegistration(tx: Tx, { workspace_id, id }: Webhook): Promise<void> {
  await put(tx, { workspace_id, id }, await nextSeq(tx))
}

/** Stores the registration of a webhook of an older version until now. Call it before a change. */
export async function keepOldRegistration(tx: Tx, { workspace_id, id }: Webhook): Promise<void> {
  const kept = await tx
    .selectFrom('webhook_registrations')
    .select('from_seq')
    .where((eb) => eb.and({ workspace_id, webhook_id: id }))
    .limit(1)
    .executeTakeFirst()
  if (!kept) await put(tx, { workspace_id, id }, 0)
}

/** Stores that a webhook is deleted from the next event on. */
export async function endRegistration(tx: Tx, { workspace_id, id }: Webhook): Promise<void> {
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

const nextSeq = async (tx: Tx) => (await lastSeq(tx)) + 1

// Without events between two changes, the later one replaces the earlier one.
const put = (tx: Tx, { workspace_id, id }: Webhook, from_seq: number) =>
  sql`INSERT INTO webhook_registrations (workspace_id, webhook_id, from_seq, events, conditions)
    SELECT w.workspace_id, w.id, CAST(${from_seq} AS bigint), w.events, w.conditions FROM webhooks AS w
    WHERE w.workspace_id = ${workspace_id} AND w.id = ${id}
    ON CONFLICT (workspace_id, webhook_id, from_seq)
    DO UPDATE SET events = excluded.events, conditions = excluded.conditions`.execute(tx)

/** The subscriptions of a webhook. `events` is null when it did not exist: it was created later, or deleted before. */
export type Registration = { webhook_id: string; events: string[] | null; conditions: string | null }

type Stored = { webhook_id: string; from_seq: number; events: string | null; conditions: string | null }

// Looks up two rows by the key, because a webhook that a program changes every second has many registrations.
const lastTwo = prepareRows(
  { workspace_id: 'bigint!', webhook_id: 'text!' },
  ({ row, rows }, p: { seq: number }) => {
    const of_webhook = sql`FROM webhook_registrations AS k
      WHERE k.workspace_id = ${row.workspace_id} AND k.webhook_id = ${row.webhook_id}`
    const nth = (n: number) => sql`(SELECT k.from_seq ${of_webhook} AND k.from_seq <= ${p.seq}
      ORDER BY k.from_seq DESC LIMIT 1 OFFSET ${sql.lit(n)})`
    return sql<{ webhook_id: string; at: number | null; before: number | null; has_changed: number }>`
          SELECT ${row.webhook_id} AS webhook_id, ${nth(0)} AS at, ${nth(1)} AS before,
            CASE WHEN EXISTS (SELECT 1 ${of_webhook}) THEN 1 ELSE 0 END AS has_changed ${rows('FROM')}`
  },
)

const bySeq = prepareRows(
  { workspace_id: 'bigint!', webhook_id: 'text!', from_seq: 'bigint!' },
  ({ row, rows }) => sql<Stored>`SELECT k.webhook_id, k.from_seq, k.events, k.conditions
        FROM ${rows('first')} webhook_registrations AS k WHERE k.workspace_id = ${row.workspace_id}
          AND k.webhook_id = ${row.webhook_id} AND k.from_seq = ${row.from_seq}`,
)

/**
 * The registrations of these webhooks at the event with this seq. `before` is the registration before that one: a
 * change that committed while the transaction of the event ran may not have been seen by it.
 */
export async function registrationsAt(
  db: Db,
  workspace_id: number,
  seq: number,
  webhook_ids: readonly string[],
): Promise<{ at: Registration; before: Registration }[]> {
  const asked = webhook_ids.map((webhook_id) => ({ workspace_id, webhook_id }))
  const places = await lastTwo(db, asked, { seq })
  const keys = places.flatMap(({ webhook_id, at, before }) =>
    [at, before].flatMap((from_seq) => (from_seq === null ? [] : [{ workspace_id, webhook_id, from_seq }])),
  )
  const stored = new Map((await bySeq(db, keys, {})).map((row) => [`${row.webhook_id} ${row.from_seq}`, row]))
  // Webhooks of an older version that never changed.
  const unchanged = await presentOf(db, workspace_id, places)
  return places.map(({ webhook_id, at, before }) => {
    const of = (from_seq: number | null) =>
      registration(webhook_id, unchanged.get(webhook_id) ?? stored.get(`${webhook_id} ${from_seq}`))
    return { at: of(at), before: of(before) }
  })
}

const registration = (
  webhook_id: string,
  row: Pick<Stored, 'events' | 'conditions'> | undefined,
): Registration => ({
  webhook_id,
  events: row?.events ? (JSON.parse(row.events) as string[]) : null,
  conditions: row?.conditions ?? null,
})

async function presentOf(
  db: Db,
  workspace_id: number,
  places: readonly { webhook_id: string; has_changed: number }[],
): Promise<Map<string, Pick<Stored, 'events' | 'conditions'>>> {
  const ids = places.flatMap(({ webhook_id, has_changed }) => (has_changed ? [] : [webhook_id]))
  if (!ids.length) return new Map()
  const rows = await db
    .selectFrom('webhooks')
    .select(['id', 'events', 'conditions'])
    .where('workspace_id', '=', workspace_id)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, ...row }) => [id, row]))
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
export async function removeOldRegistrations(tx: Tx, limit: number): Promise<number> {
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
