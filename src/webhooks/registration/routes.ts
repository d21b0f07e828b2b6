import type { Db } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import { lockEntry, lockRow } from '../../db/locks.ts'
import { factsOf, recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import { Deleted, deleted, List, Single } from '../../http/envelope.ts'
import { conflict, type FieldProblem, invalid, notFound } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { refuseMore } from '../../http/limits.ts'
import { cursor, pageAnswer, pageOf } from '../../http/lists.ts'
import { changesOf } from '../../http/patch.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { generateSecret, secretProblem } from '../delivery/signature.ts'
import {
  countWebhooks,
  findWebhook,
  insertWebhook,
  listWebhooks,
  pendingEvents,
  updateWebhook,
} from './queries.ts'
import { removeWebhook } from './removal.ts'
import { Webhook, WebhookCreated, WebhookParams, webhookBodies } from './schema.ts'
import { checkUrl, type TargetPolicy } from './target.ts'

const path = '/api/v1/webhooks'
const order = '-seq of webhooks'
const reads = { scope: 'webhooks:read' }
const writes = { scope: 'webhooks:write' }
const extension = { 'x-extension': true }
const fields = ['name', 'url', 'events'] as const
// Of pending deliveries, whose events are looked at before their address changes.
const most_looked_at = 1000

/** The service as the routes of webhooks use it. */
export type WebhookService = Service & { policy: TargetPolicy; dispatcher: Dispatcher }

/** Registration of webhooks, and reading, changing and deleting them. */
export function webhookRoutes(app: App, service: WebhookService): void {
  const { db, reading, write, stillIn, seal, policy, event_names, rights, config, dispatcher } = service
  const { refuseUnreadable } = rights
  const { WebhookCreate, WebhookUpdate } = webhookBodies(event_names)

  // Names are looked up before the transaction, which waits for nothing but the database.
  async function urlProblems(body: { url?: unknown }): Promise<FieldProblem[]> {
    // Trimmed like every text, but of spaces only: a tab or line break is a mistake that must be told.
    if (typeof body.url === 'string') body.url = body.url.replace(/^ +| +$/g, '')
    const { url } = body
    if (typeof url !== 'string') return []
    if (url === '') return [{ field: 'url', code: 'required', message: 'url is required.' }]
    const checked = await checkUrl(url, policy)
    return 'code' in checked ? [{ field: 'url', code: checked.code, message: checked.message }] : []
  }

  app.post(
    path,
    {
      config: writes,
      schema: {
        summary: 'Register a webhook',
        description:
          'Each event needs the scope that reads its kind, such as `contacts:read` for `contact.*` (403). A workspace has at most `MAX_WEBHOOKS` (100); beyond, 409.',
        body: WebhookCreate,
        response: { 201: Single(WebhookCreated) },
      },
    },
    async (request, reply) => {
      const bad_url = await urlProblems(request.body)
      return write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        // One registration after the other: so the limit is exact.
        await lockEntry(tx, 'workspaces', workspace_id)
        const access = await stillIn(tx, request)
        const { name = null, url = '', events = [], secret } = request.body
        const all = [...problems, ...bad_url, ...secretProblems(secret)]
        if (all.length) throw invalid(all)
        refuseUnreadable(access.scopes, events)
        const { max_webhooks } = config
        const limit = `A workspace has at most ${max_webhooks} webhooks (MAX_WEBHOOKS)`
        refuseMore(await countWebhooks(tx, workspace_id), max_webhooks, limit, 'Delete one first.')
        const id = newId('wh')
        const signing = secret ?? generateSecret()
        await insertWebhook(tx, workspace_id, now, { id, name, url, events, secret: seal.seal(signing) })
        const webhook = await existingWebhook(tx, workspace_id, id)
        await recordChange(tx, context, { ...change('created', id), after: factsOf(webhook) })
        return { record: webhook, shown: { ...webhook, secret: signing }, location: `${path}/${id}` }
      })
    },
  )

  app.get(
    path,
    {
      config: reads,
      schema: {
        ...extension,
        summary: 'List webhooks',
        querystring: ListQuery({ cursor }),
        response: { 200: List(Webhook) },
      },
    },
    async (request) => {
      const page = pageOf(request.query, order, ['number'])
      const { webhooks, ...found } = await reading((db) =>
        listWebhooks(db, request.access.workspace_id, page),
      )
      return pageAnswer(webhooks, found, order, page)
    },
  )

  app.get(
    `${path}/:webhook_id`,
    {
      config: reads,
      schema: {
        ...extension,
        summary: 'Read a webhook',
        params: WebhookParams,
        response: { 200: Single(Webhook) },
      },
    },
    async (request, reply) =>
      sendRecord(
        request,
        reply,
        await existingWebhook(db, request.access.workspace_id, request.params.webhook_id),
      ),
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:webhook_id`,
    config: writes,
    schema: {
      ...extension,
      summary: 'Change a webhook',
      params: WebhookParams,
      body: WebhookUpdate,
      response: { 200: Single(Webhook) },
    },
    handler: async (request, reply) => {
      const bad_url = await urlProblems(request.body)
      return write(request, reply, async (tx, context, problems) => {
        const { scopes } = await stillIn(tx, request)
        const { workspace_id } = context
        const { webhook_id } = request.params
        const before = await webhookToChange(tx, workspace_id, webhook_id)
        checkMatch(request, before)
        // An address that is stored already stays, even if the networks that are allowed have changed.
        const all = [...problems, ...(request.body.url === before.url ? [] : bad_url)]
        if (all.length) throw invalid(all)
        const changes = changesOf(request.body, before, fields)
        if (!Object.keys(changes).length) return { record: before }
        refuseUnreadable(scopes, [...before.events, ...(changes.events ?? [])])
        if (changes.url !== undefined)
          await refuseRedirection(tx, rights, { workspace_id, scopes }, webhook_id)
        await updateWebhook(tx, workspace_id, webhook_id, changes)
        const after = await existingWebhook(tx, workspace_id, webhook_id)
        const told = changesBetween(before, after, fields)
        if (told)
          await recordChange(tx, context, { ...change('updated', webhook_id), ...sidesOf(told, after) })
        return { record: after }
      })
    },
  })

  app.delete(
    `${path}/:webhook_id`,
    {
      config: writes,
      schema: {
        ...extension,
        summary: 'Delete a webhook and cancel what is pending for it',
        params: WebhookParams,
        response: { 200: Deleted },
      },
    },
    async (request, reply) => {
      const { webhook_id } = request.params
      const sent = await write(request, reply, async (tx, context) => {
        const { workspace_id, now } = context
        const before = await webhookToChange(tx, workspace_id, webhook_id)
        checkMatch(request, before)
        refuseUnreadable(request.access.scopes, before.events)
        await removeWebhook(tx, workspace_id, webhook_id, now)
        await recordChange(tx, context, { ...change('deleted', webhook_id), before: factsOf(before) })
        dispatcher.holdBack(webhook_id, 'pings too')
        return { body: deleted('The webhook') }
      })
      // Once more for what was claimed between the two: it had not seen the commit.
      dispatcher.holdBack(webhook_id, 'pings too')
      return sent
    },
  )
}

/** The head of an audit entry. Its sides are made of what GET shows, which never has a secret. */
export const change = (action: string, record_id: string) => ({ action, kind: 'webhooks', record_id })

/** Problems of a secret that a client gives; none when it gives none. */
export function secretProblems(secret: unknown): FieldProblem[] {
  if (typeof secret !== 'string') return []
  const problem = secretProblem(secret)
  return problem ? [{ field: 'secret', code: 'invalid_format', message: problem }] : []
}

/**
 * Throws 403 when a new address would be sent events that the caller may not read: the webhook had them once, and they are
 * still pending. Of a long queue not all are looked at: 409.
 */
async function refuseRedirection(
  tx: Db,
  rights: ReadRights,
  { workspace_id, scopes }: { workspace_id: number; scopes: Scopes },
  webhook_id: string,
): Promise<void> {
  if (!scopes) return
  const pending = await pendingEvents(tx, workspace_id, webhook_id, most_looked_at + 1)
  rights.refuseUnreadable(scopes, [...new Set(pending)])
  if (pending.length > most_looked_at)
    throw conflict(
      `More than ${most_looked_at} deliveries are pending. Change the url when there are fewer, or with every scope.`,
    )
}

/** The webhook, kept for a change in this transaction; 404 when there is none. */
export async function webhookToChange(tx: Db, workspace_id: number, id: string): Promise<Webhook> {
  await lockRow(tx, 'webhooks', workspace_id, id)
  return existingWebhook(tx, workspace_id, id)
}

/** The webhook, or 404. */
export async function existingWebhook(db: Db, workspace_id: number, id: string): Promise<Webhook> {
  const webhook = await findWebhook(db, workspace_id, id)
  if (!webhook) throw notFound('This webhook')
  return webhook
}
