import type { Static } from 'typebox'
import type { Db, Tx } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockEntry, lockRow } from '../../db/locks.ts'
import { addWork } from '../../db/work.ts'
import { conflict, type FieldProblem, orNotFound, refuse, refuseMore } from '../../errors.ts'
import { auditSides, auditSnapshot, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import type { Incoming } from '../../http/endpoints.ts'
import { changesOf } from '../../http/patch.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import { generateSecret, secretProblem } from '../delivery/signature.ts'
import type { WebhookService } from '../service.ts'
import { conditionProblems } from './conditions.ts'
import { headerProblems, otherOriginProblems } from './headers.ts'
import { option_names, storedOptions } from './options.ts'
import {
  countWebhooks,
  findWebhook,
  findWebhookRow,
  insertWebhook,
  pendingEvents,
  updateWebhook,
} from './queries.ts'
import { removeWebhook } from './removal.ts'
import { type Webhook, WebhookParams } from './schema.ts'
import { checkUrl, type TargetPolicy, trimSpaces } from './target.ts'

/** The endpoints of webhooks, for `endpoints`. */
export const webhook_kind = {
  path: '/api/v1/webhooks',
  params: WebhookParams,
  reads: 'webhooks:read',
  writes: 'webhooks:write',
  noun: 'webhook',
}

/** The fields that a client may change. */
const webhook_fields = ['name', 'url', 'events', ...option_names] as const
// Events of pending deliveries that are checked before the URL changes.
const max_checked_events = 1000

/** The head of an audit entry. Its sides come from the answer of GET, which never has a secret. */
export const change = (action: string, record_id: string) => ({ action, kind: 'webhooks', record_id })

/** A webhook for the audit log, without options that are not set. */
const snapshotOf = (webhook: Webhook) =>
  auditSnapshot({
    ...webhook,
    headers: nonEmpty(webhook.headers),
    conditions: nonEmpty(webhook.conditions),
    ordered: webhook.ordered || null,
    format: webhook.format === 'envelope' ? null : webhook.format,
  })
const nonEmpty = <T extends object>(value: T | null) => (value && Object.keys(value).length ? value : null)

/** The webhook, or 404. */
export const existingWebhook = async (db: Db, workspace_id: number, id: string): Promise<Webhook> =>
  orNotFound('webhook', await findWebhook(db, workspace_id, id))

/** Locks and reads a webhook; 404 if it does not exist. */
async function lockWebhook(tx: Tx, workspace_id: number, id: string): Promise<Webhook> {
  await lockRow(tx, 'webhooks', workspace_id, id)
  return existingWebhook(tx, workspace_id, id)
}

/** A request that writes to a webhook. */
export type OfWebhook<Body = unknown, Prepared = unknown> = Incoming<
  Static<typeof WebhookParams>,
  Body,
  Prepared
>

/**
 * Locks the webhook that a request names. Throws 412 if If-Match does not match, and 422 for problems. Throws 403 if
 * the caller may not read the webhook's events.
 */
export async function webhookToChange(
  tx: Tx,
  { refuseUnreadable }: ReadRights,
  { request: { access }, params, problems, expect }: Omit<OfWebhook, 'body' | 'recheck' | 'prepared'>,
  scopes: Scopes = access.scopes,
): Promise<Webhook> {
  const webhook = await lockWebhook(tx, access.workspace_id, params.webhook_id)
  expect(webhook)
  refuse(problems)
  refuseUnreadable(scopes, webhook.events)
  return webhook
}

/** Trims and checks a URL. Looks its host name up, so it runs before the transaction. */
export async function urlProblems(policy: TargetPolicy, body: { url?: unknown }): Promise<FieldProblem[]> {
  // Only spaces are trimmed: a tab or a line break is a mistake, and the caller must see it.
  if (typeof body.url === 'string') body.url = trimSpaces(body.url)
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

type Fields = Partial<Pick<Webhook, (typeof webhook_fields)[number]>>

/** Adds an active webhook. `prepared` are the problems of its URL. Throws 409 above the limit. */
export async function registerWebhook(
  tx: Tx,
  context: Context,
  { rights, seal, catalogue, config: { max_webhooks } }: WebhookService,
  {
    body,
    problems,
    prepared,
    recheck,
  }: Incoming<unknown, Fields & { secret?: string | null }, FieldProblem[]>,
) {
  const { workspace_id } = context
  // The lock makes the limit exact.
  await lockEntry(tx, 'workspaces', workspace_id)
  const { scopes } = await recheck()
  const { name = null, url = '', events = [] } = body
  refuse([
    ...problems,
    ...prepared,
    ...secretProblems(body.secret),
    ...headerProblems(body.headers, {}),
    ...conditionProblems(body.conditions, events, catalogue),
  ])
  rights.refuseUnreadable(scopes, events)
  const limit = `A workspace has at most ${max_webhooks} webhooks (MAX_WEBHOOKS)`
  refuseMore(
    'too_many_webhooks',
    await countWebhooks(tx, workspace_id),
    max_webhooks,
    limit,
    'Delete one first.',
  )
  const id = newId('wh')
  const secret = body.secret ?? generateSecret()
  const webhook = { ...storedOptions(body, seal), id, name, url, events, secret: seal.seal(secret) }
  await insertWebhook(tx, workspace_id, context.now, webhook)
  const record = await existingWebhook(tx, workspace_id, id)
  recordChange(tx, context, { ...change('created', id), after: snapshotOf(record) })
  return { record, shown: { ...record, secret } }
}

/** Changes the fields of a webhook that are sent. `prepared` are the problems of the URL. */
export async function changeWebhook(
  tx: Tx,
  context: Context,
  { rights, seal, catalogue }: Pick<WebhookService, 'rights' | 'seal' | 'catalogue'>,
  { params, body, problems, prepared, expect, recheck }: OfWebhook<Fields, FieldProblem[]>,
): Promise<Webhook> {
  const { workspace_id } = context
  const { scopes } = await recheck()
  const before = await lockWebhook(tx, workspace_id, params.webhook_id)
  expect(before)
  // A stored URL stays valid when the allowed networks have changed.
  refuse([
    ...problems,
    ...(body.url === before.url ? [] : prepared),
    ...headerProblems(body.headers, before.headers ?? {}),
    ...(isOtherOrigin(body.url, before.url) ? otherOriginProblems(body.headers, before.headers ?? {}) : []),
  ])
  const changes = changesOf(body, before, webhook_fields)
  // Other events may not have the fields of the conditions.
  if (changes.events || changes.conditions)
    refuse(conditionProblems(body.conditions ?? before.conditions, body.events ?? before.events, catalogue))
  if (!Object.keys(changes).length) return before
  rights.refuseUnreadable(scopes, [...before.events, ...(changes.events ?? [])])
  if (changes.url !== undefined)
    await refuseUnreadablePending(tx, rights, { workspace_id, scopes }, before.id)
  const { name, url, events } = changes
  const row = await findWebhookRow(tx, workspace_id, before.id)
  const stored = storedOptions(changes, seal, row?.headers)
  await updateWebhook(tx, workspace_id, before.id, {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...(events && { events }),
    ...stored,
  })
  if (before.ordered && stored.ordered === 0)
    addWork(tx, context, { kind: 'webhook_order', subject: before.id })
  const after = await existingWebhook(tx, workspace_id, before.id)
  const changed =
    changesBetween(before, after, webhook_fields) ??
    // Two values of a header look alike in the log.
    (stored.headers !== undefined && stored.headers !== row?.headers
      ? { changed_fields: ['headers'], previous: { headers: before.headers } }
      : null)
  if (changed) recordChange(tx, context, { ...change('updated', before.id), ...auditSides(changed, after) })
  return after
}

const isOtherOrigin = (url: string | undefined, before: string): boolean =>
  url !== undefined && URL.canParse(url) && new URL(url).origin !== new URL(before).origin

/** Deletes a webhook, and cancels its pending deliveries. */
export async function deleteWebhook(
  tx: Tx,
  context: Context,
  rights: ReadRights,
  sent: OfWebhook,
): Promise<void> {
  const before = await webhookToChange(tx, rights, sent)
  await removeWebhook(tx, context, before.id)
  recordChange(tx, context, { ...change('deleted', before.id), before: snapshotOf(before) })
}

/**
 * Throws 403 if a new URL would receive pending events that the caller may not read. The webhook may have older
 * subscriptions. Only the first 1,000 are checked; 409 for a longer queue.
 */
async function refuseUnreadablePending(
  tx: Tx,
  { refuseUnreadable }: ReadRights,
  { workspace_id, scopes }: { workspace_id: number; scopes: Scopes },
  webhook_id: string,
): Promise<void> {
  if (!scopes) return
  const pending = await pendingEvents(tx, workspace_id, webhook_id, max_checked_events + 1)
  refuseUnreadable(scopes, [...new Set(pending)])
  if (pending.length > max_checked_events)
    throw conflict(
      'too_many_pending',
      `More than ${max_checked_events} deliveries are pending. Change the url when there are fewer, or with every scope.`,
      { most: max_checked_events },
    )
}
