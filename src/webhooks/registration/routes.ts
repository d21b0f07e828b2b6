import { lockEntry } from '../../db/locks.ts'
import { invalid, refuseMore } from '../../errors.ts'
import { auditSnapshot, recordChange } from '../../events/audit.ts'
import { Deleted, deleted, List, Single } from '../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery } from '../../http/fields.ts'
import { cursor, pageAnswer, pageOf } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import { changesOf } from '../../http/patch.ts'
import type { App } from '../../http/server.ts'
import { generateSecret } from '../delivery/signature.ts'
import type { WebhookService } from '../service.ts'
import { countWebhooks, listWebhooks } from './queries.ts'
import { removeWebhook } from './removal.ts'
import { Webhook, WebhookCreated, WebhookParams, webhookBodies } from './schema.ts'
import {
  change,
  changeWebhook,
  existingWebhook,
  lockWebhook,
  refuseRedirection,
  registerWebhook,
  secretProblems,
  urlProblems,
  webhook_fields,
  webhookToChange,
} from './webhooks.ts'

const path = '/api/v1/webhooks'
const order = '-seq of webhooks'

/** Registration of webhooks, and reading, changing and deleting them. */
export function webhookRoutes(app: App, service: WebhookService): void {
  const { db, reading, write, recheckAccess, seal, policy, event_names, rights, config, dispatcher } = service
  const { WebhookCreate, WebhookUpdate } = webhookBodies(event_names)

  operation(
    app,
    {
      method: 'POST',
      path,
      scope: 'webhooks:write',
      summary: 'Register a webhook',
      description:
        'Each event needs the scope that reads its kind, such as `contacts:read` for `contact.*` (403). A workspace has at most `MAX_WEBHOOKS` (100); beyond, 409.',
      body: WebhookCreate,
      answers: { 201: Single(WebhookCreated) },
      extension: false,
      repeatable: true,
    },
    async (request, reply) => {
      const bad_url = await urlProblems(policy, request.body)
      return write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        // Registrations run one after the other, so that the limit is exact.
        await lockEntry(tx, 'workspaces', workspace_id)
        const { scopes } = await recheckAccess(tx, request)
        const { name = null, url = '', events = [], secret } = request.body
        const all = [...problems, ...bad_url, ...secretProblems(secret)]
        if (all.length) throw invalid(all)
        rights.refuseUnreadable(scopes, events)
        const { max_webhooks } = config
        const limit = `A workspace has at most ${max_webhooks} webhooks (MAX_WEBHOOKS)`
        refuseMore(await countWebhooks(tx, workspace_id), max_webhooks, limit, 'Delete one first.')
        const signing = secret ?? generateSecret()
        const record = await registerWebhook(tx, context, { name, url, events, secret: seal.seal(signing) })
        return { record, shown: { ...record, secret: signing }, location: `${path}/${record.id}` }
      })
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path,
      scope: 'webhooks:read',
      summary: 'List webhooks',
      query: ListQuery({ cursor }),
      answers: { 200: List(Webhook) },
      extension: true,
    },
    async (request) => {
      const { workspace_id } = request.access
      const page = pageOf(request.query, order, ['number'])
      const { webhooks, ...found } = await reading((db) => listWebhooks(db, workspace_id, page))
      return pageAnswer(webhooks, found, order, page)
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:webhook_id`,
      scope: 'webhooks:read',
      summary: 'Read a webhook',
      params: WebhookParams,
      answers: { 200: Single(Webhook) },
      extension: true,
      conditional: true,
    },
    async (request, reply) => {
      const { workspace_id } = request.access
      return sendRecord(request, reply, await existingWebhook(db, workspace_id, request.params.webhook_id))
    },
  )

  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path: `${path}/:webhook_id`,
      scope: 'webhooks:write',
      summary: 'Change a webhook',
      params: WebhookParams,
      body: WebhookUpdate,
      answers: { 200: Single(Webhook) },
      extension: true,
      guarded: true,
    },
    async (request, reply) => {
      const bad_url = await urlProblems(policy, request.body)
      return write(request, reply, async (tx, context, problems) => {
        const { scopes } = await recheckAccess(tx, request)
        const { workspace_id } = context
        const { webhook_id } = request.params
        const before = await lockWebhook(tx, workspace_id, webhook_id)
        checkMatch(request, before)
        // A stored URL stays valid when the allowed networks have changed.
        const all = [...problems, ...(request.body.url === before.url ? [] : bad_url)]
        if (all.length) throw invalid(all)
        const changes = changesOf(request.body, before, webhook_fields)
        if (!Object.keys(changes).length) return { record: before }
        rights.refuseUnreadable(scopes, [...before.events, ...(changes.events ?? [])])
        if (changes.url !== undefined)
          await refuseRedirection(tx, rights, { workspace_id, scopes }, webhook_id)
        return { record: await changeWebhook(tx, context, before, changes) }
      })
    },
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: `${path}/:webhook_id`,
      scope: 'webhooks:write',
      summary: 'Delete a webhook and cancel what is pending for it',
      params: WebhookParams,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    async (request, reply) => {
      const { webhook_id } = request.params
      const sent = await write(request, reply, async (tx, context) => {
        const before = await webhookToChange(tx, rights, request, [])
        await removeWebhook(tx, context.workspace_id, webhook_id, context.now)
        await recordChange(tx, context, { ...change('deleted', webhook_id), before: auditSnapshot(before) })
        dispatcher.holdBack(webhook_id, 'pings too')
        return { body: deleted('The webhook') }
      })
      // Again, for deliveries that were claimed before the commit.
      dispatcher.holdBack(webhook_id, 'pings too')
      return sent
    },
  )
}
