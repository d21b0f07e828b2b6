import type { Selectable } from 'kysely'
import { isoTime } from '../../clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import { type Listed, newestRows, type Page } from '../../db/lists/lists.ts'
import type { Tables } from '../../db/tables.ts'
import { keepOldRegistration, keepRegistration } from './history.ts'
import { type StoredOptions, shownOptions } from './options.ts'
import type { Webhook } from './schema.ts'

export type WebhookRow = Selectable<Tables['webhooks']>

const webhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  name: row.name,
  url: row.url,
  events: JSON.parse(row.events),
  status: row.status,
  status_reason: row.status_reason,
  rotation_ends_at: row.next_secret_from_ms === null ? null : isoTime(row.next_secret_from_ms),
  created_at: row.created_at,
  ...shownOptions(row),
})

/** The stored row of a webhook, with its encrypted secrets, or null. */
export async function findWebhookRow(db: Db, workspace_id: number, id: string): Promise<WebhookRow | null> {
  const row = await db
    .selectFrom('webhooks')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  return row ?? null
}

export async function findWebhook(db: Db, workspace_id: number, id: string): Promise<Webhook | null> {
  const row = await findWebhookRow(db, workspace_id, id)
  return row && webhook(row)
}

/** How many webhooks a workspace has. */
export const countWebhooks = (db: Db, workspace_id: number): Promise<number> =>
  countRows(db.selectFrom('webhooks').where('workspace_id', '=', workspace_id))

/** Whether any workspace has a webhook. */
export const anyWebhook = async (db: Db): Promise<boolean> =>
  (await db.selectFrom('webhooks').select('id').limit(1).executeTakeFirst()) !== undefined

/** One page of webhooks, newest first. */
export async function listWebhooks(db: Db, workspace_id: number, page: Page): Promise<Listed<Webhook>> {
  const all = db.selectFrom('webhooks').selectAll().where('workspace_id', '=', workspace_id)
  const { records, ...found } = await newestRows(all, 'seq', page)
  return { records: records.map(webhook), ...found }
}

/** A new webhook; its options are columns. */
export type NewWebhook = StoredOptions & {
  id: string
  name: string | null
  url: string
  events: string[]
  secret: string
}

/** Adds an active webhook. The caller encrypts `secret`. */
export async function insertWebhook(
  tx: Tx,
  workspace_id: number,
  now: string,
  webhook: NewWebhook,
): Promise<void> {
  const events = [...new Set(webhook.events)]
  await tx
    .insertInto('webhooks')
    .values({
      ...webhook,
      events: JSON.stringify(events),
      workspace_id,
      status: 'active',
      status_reason: null,
      next_secret: null,
      next_secret_from_ms: null,
      created_at: now,
    })
    .execute()
  await subscribe(tx, workspace_id, webhook.id, events)
  await keepRegistration(tx, { workspace_id, id: webhook.id })
}

/** Replaces a webhook's subscriptions with a list of events, which may have `deal.*` and `*`. */
export async function subscribe(
  tx: Tx,
  workspace_id: number,
  webhook_id: string,
  events: string[],
): Promise<void> {
  await tx
    .deleteFrom('webhook_subscriptions')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .$if(events.length > 0, (old) => old.where('event', 'not in', events))
    .execute()
  const rows = events.map((event) => ({ workspace_id, event, webhook_id }))
  if (!rows.length) return
  await tx
    .insertInto('webhook_subscriptions')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

type Stored = 'name' | 'url' | 'status' | 'status_reason' | 'secret' | 'next_secret' | 'next_secret_from_ms'
type WebhookChanges = Partial<Pick<WebhookRow, Stored>> & StoredOptions & { events?: string[] }

/** Changes the given fields. A list of events replaces the old list. */
export async function updateWebhook(tx: Tx, workspace_id: number, id: string, changes: WebhookChanges) {
  const { events, ...values } = changes
  // After a resume the kept deliveries are due; after a pause other processes must hold back their claims. A new limit
  // may let deliveries start earlier.
  if (values.status || values.max_per_second !== undefined) tx.announce('deliveries')
  const distinct = events && [...new Set(events)]
  const asks_otherwise = distinct !== undefined || values.conditions !== undefined
  if (asks_otherwise) await keepOldRegistration(tx, { workspace_id, id })
  if (distinct) await subscribe(tx, workspace_id, id, distinct)
  await tx
    .updateTable('webhooks')
    .set({ ...values, ...(distinct && { events: JSON.stringify(distinct) }) })
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
  if (asks_otherwise) await keepRegistration(tx, { workspace_id, id })
}

/** The events of up to `limit` pending deliveries of a webhook, one for each delivery. */
export async function pendingEvents(
  db: Db,
  workspace_id: number,
  webhook_id: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_queue as q')
    .innerJoin('webhook_deliveries as d', (join) =>
      join.onRef('d.workspace_id', '=', 'q.workspace_id').onRef('d.id', '=', 'q.delivery_id'),
    )
    .select('d.event')
    .where('q.workspace_id', '=', workspace_id)
    .where('q.webhook_id', '=', webhook_id)
    .limit(limit)
    .execute()
  return rows.map(({ event }) => event)
}
