import type { Selectable } from 'kysely'
import { isoTime } from '../clock.ts'
import { addCount } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import type { Tables } from '../db/tables.ts'
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
})

/** The stored row of a webhook, with its encrypted secrets, or null. */
export async function findWebhookRow(db: Db, workspace_id: number, id: string): Promise<WebhookRow | null> {
  const row = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

export async function findWebhook(db: Db, workspace_id: number, id: string): Promise<Webhook | null> {
  const row = await findWebhookRow(db, workspace_id, id)
  return row && webhook(row)
}

/** One page of webhooks, newest first, and the number of all. */
export async function listWebhooks(
  db: Db,
  workspace_id: number,
  { per_page, offset }: { per_page: number; offset: number },
) {
  const all = db.selectFrom('webhooks').where('workspace_id', '=', workspace_id)
  const { n } = await all.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  const rows = await all.selectAll().orderBy('seq', 'desc').limit(per_page).offset(offset).execute()
  return { total: Number(n), webhooks: rows.map(webhook) }
}

type NewWebhook = { id: string; name: string | null; url: string; events: string[]; secret: string }

/** Adds an active webhook; `secret` comes encrypted. */
export async function insertWebhook(
  tx: Db,
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
}

async function subscribe(tx: Db, workspace_id: number, webhook_id: string, events: string[]): Promise<void> {
  await tx
    .deleteFrom('webhook_subscriptions')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .execute()
  const rows = events.map((event) => ({ workspace_id, event, webhook_id }))
  if (rows.length) await tx.insertInto('webhook_subscriptions').values(rows).execute()
}

type Stored = 'name' | 'url' | 'status' | 'status_reason' | 'secret' | 'next_secret' | 'next_secret_from_ms'
type WebhookChanges = Partial<Pick<WebhookRow, Stored>> & { events?: string[] }

/** Changes the given fields; a list of events replaces the one before. */
export async function updateWebhook(tx: Db, workspace_id: number, id: string, changes: WebhookChanges) {
  const { events, ...values } = changes
  const distinct = events && [...new Set(events)]
  if (distinct) await subscribe(tx, workspace_id, id, distinct)
  await tx
    .updateTable('webhooks')
    .set({ ...values, ...(distinct && { events: JSON.stringify(distinct) }) })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute()
}

/** Deletes a webhook and cancels what is pending for it; its log stays. */
export async function removeWebhook(tx: Db, workspace_id: number, id: string, now: string): Promise<void> {
  const cancelled = await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'cancelled', finished_at: now, next_attempt_at: null })
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', id)
    .where('status', '=', 'pending')
    .executeTakeFirst()
  const by = Number(cancelled.numUpdatedRows)
  await addCount(tx, { workspace_id, name: 'deliveries.status=pending', by: -by })
  await addCount(tx, { workspace_id, name: 'deliveries.status=cancelled', by })
  await tx.deleteFrom('webhook_queue').where('webhook_id', '=', id).execute()
  await subscribe(tx, workspace_id, id, [])
  await tx.deleteFrom('webhooks').where('workspace_id', '=', workspace_id).where('id', '=', id).execute()
}
