import type { Static } from 'typebox'
import type { Db } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockRow } from '../../db/locks.ts'
import { conflict, type FieldProblem, invalid, notFound } from '../../errors.ts'
import { auditSides, auditSnapshot, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import { checkMatch } from '../../http/etag.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import { secretProblem } from '../delivery/signature.ts'
import { findWebhook, insertWebhook, pendingEvents, updateWebhook } from './queries.ts'
import type { Webhook, WebhookParams } from './schema.ts'
import { checkUrl, type TargetPolicy } from './target.ts'

/** The fields that a client may change. */
export const webhook_fields = ['name', 'url', 'events'] as const
// Events of pending deliveries that are checked before the URL changes.
const max_checked_events = 1000

/** The head of an audit entry. Its sides come from the answer of GET, which never has a secret. */
export const change = (action: string, record_id: string) => ({ action, kind: 'webhooks', record_id })

/** The webhook, or 404. */
export async function existingWebhook(db: Db, workspace_id: number, id: string): Promise<Webhook> {
  const webhook = await findWebhook(db, workspace_id, id)
  if (!webhook) throw notFound('This webhook')
  return webhook
}

/** Locks and reads a webhook; 404 if it does not exist. */
export async function lockWebhook(tx: Db, workspace_id: number, id: string): Promise<Webhook> {
  await lockRow(tx, 'webhooks', workspace_id, id)
  return existingWebhook(tx, workspace_id, id)
}

type WebhookRequest = Parameters<typeof checkMatch>[0] & { params: Static<typeof WebhookParams> }

/**
 * Locks the webhook that a request names. Throws 412 if If-Match does not fit, 422 for problems, and 403 if the caller may
 * not read the events of the webhook.
 */
export async function webhookToChange(
  tx: Db,
  { refuseUnreadable }: ReadRights,
  request: WebhookRequest,
  problems: readonly FieldProblem[],
  scopes: Scopes = request.access.scopes,
): Promise<Webhook> {
  const webhook = await lockWebhook(tx, request.access.workspace_id, request.params.webhook_id)
  checkMatch(request, webhook)
  if (problems.length) throw invalid(problems)
  refuseUnreadable(scopes, webhook.events)
  return webhook
}

/** Trims and checks a URL. Looks its host name up, so it runs before the transaction. */
export async function urlProblems(policy: TargetPolicy, body: { url?: unknown }): Promise<FieldProblem[]> {
  // Only spaces are trimmed: a tab or a line break is a mistake, and the caller must see it.
  if (typeof body.url === 'string') body.url = body.url.replace(/^ +| +$/g, '')
  const { url } = body
  if (typeof url !== 'string') return []
  if (url === '') return [{ field: 'url', code: 'required', message: 'url is required.' }]
  const checked = await checkUrl(url, policy)
  return 'code' in checked ? [{ field: 'url', code: checked.code, message: checked.message }] : []
}

/** Problems of a secret that a client gives; none when the client gives no secret. */
export function secretProblems(secret: unknown): FieldProblem[] {
  if (typeof secret !== 'string') return []
  const problem = secretProblem(secret)
  return problem ? [{ field: 'secret', code: 'invalid_format', message: problem }] : []
}

type NewWebhook = { name: string | null; url: string; events: string[]; secret: string }

/** Adds an active webhook. `secret` is encrypted. */
export async function registerWebhook(tx: Db, context: Context, webhook: NewWebhook): Promise<Webhook> {
  const { workspace_id, now } = context
  const id = newId('wh')
  await insertWebhook(tx, workspace_id, now, { id, ...webhook })
  const made = await existingWebhook(tx, workspace_id, id)
  await recordChange(tx, context, { ...change('created', id), after: auditSnapshot(made) })
  return made
}

type WebhookChanges = {
  name?: string | null | undefined
  url?: string | undefined
  events?: string[] | undefined
}

/** Changes fields of a locked webhook. */
export async function changeWebhook(
  tx: Db,
  context: Context,
  before: Webhook,
  changes: WebhookChanges,
): Promise<Webhook> {
  const { workspace_id } = context
  await updateWebhook(tx, workspace_id, before.id, changes)
  const after = await existingWebhook(tx, workspace_id, before.id)
  const told = changesBetween(before, after, webhook_fields)
  if (told) await recordChange(tx, context, { ...change('updated', before.id), ...auditSides(told, after) })
  return after
}

/**
 * Throws 403 if a new URL would receive pending events that the caller may not read: the webhook may have had them before.
 * Only the first 1,000 are checked; 409 for a longer queue.
 */
export async function refuseRedirection(
  tx: Db,
  { refuseUnreadable }: ReadRights,
  { workspace_id, scopes }: { workspace_id: number; scopes: Scopes },
  webhook_id: string,
): Promise<void> {
  if (!scopes) return
  const pending = await pendingEvents(tx, workspace_id, webhook_id, max_checked_events + 1)
  refuseUnreadable(scopes, [...new Set(pending)])
  if (pending.length > max_checked_events)
    throw conflict(
      `More than ${max_checked_events} deliveries are pending. Change the url when there are fewer, or with every scope.`,
    )
}
