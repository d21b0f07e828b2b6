import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { conflict, orNotFound } from '../../errors.ts'
import { auditSides, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import { defineEvent } from '../../events/define.ts'
import { insertDelivery } from '../../events/deliveries.ts'
import { insertEvent, insertTest } from '../../events/emit.ts'
import { endpoints } from '../../http/endpoints.ts'
import { Single, single } from '../../http/envelope.ts'
import { checkMatch } from '../../http/etag.ts'
import { NoFields } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { unlessStopped } from '../../http/stopping.ts'
import { generateSecret } from '../delivery/signature.ts'
import { storedFormat } from '../registration/options.ts'
import { findWebhookRow, updateWebhook } from '../registration/queries.ts'
import {
  DeliveryDetail,
  ResendCount,
  ResendFailed,
  RotateSecret,
  Webhook,
  WebhookParams,
  WebhookRotated,
  webhookBodies,
} from '../registration/schema.ts'
import { rotateSecret } from '../registration/secrets.ts'
import {
  change,
  existingWebhook,
  type OfWebhook,
  secretProblems,
  webhook_kind,
  webhookToChange,
} from '../registration/webhooks.ts'
import type { WebhookService } from '../service.ts'
import { findDelivery, withKind } from './deliveries.ts'
import { resendFailed } from './resends.ts'

const ping = defineEvent('ping', 'A test of a webhook.', Type.Object({ message: Type.String() }), {
  message: 'This is a test of your webhook.',
})

/** The actions on a webhook: pause and resume, rotate the secret, send a ping, send all failed deliveries again. */
export function webhookActionRoutes(app: App, service: WebhookService): void {
  const { rights, dispatcher } = service
  const webhooks = endpoints(app, service, webhook_kind)

  webhooks.verb(
    {
      name: 'pause',
      summary: 'Pause a webhook: its deliveries wait',
      body: NoFields,
      view: Webhook,
      // Again, for deliveries that were claimed before the commit.
      committed: ({ params }) => dispatcher.holdBack(params.webhook_id, 'except pings'),
    },
    async (tx, context, sent) => {
      const before = await webhookToChange(tx, rights, sent)
      if (before.status === 'paused') return { record: before }
      const record = await changeStatus(tx, context, before, 'paused')
      dispatcher.holdBack(before.id, 'except pings')
      return { record }
    },
  )

  webhooks.verb(
    {
      name: 'resume',
      summary: 'Resume a webhook: its waiting deliveries are sent',
      body: NoFields,
      view: Webhook,
    },
    async (tx, context, sent) => {
      const before = await webhookToChange(tx, rights, sent)
      if (before.status === 'active') return { record: before }
      return { record: await changeStatus(tx, context, before, 'active') }
    },
  )

  webhooks.verb(
    {
      name: 'rotate-secret',
      summary: 'Rotate the secret of a webhook',
      body: RotateSecret,
      view: WebhookRotated,
    },
    (tx, context, sent) => rotate(tx, context, service, sent),
  )

  testRoute(app, service)

  webhooks.verb(
    {
      name: 'resend-failed',
      id: 'resendFailedDeliveries',
      summary: 'Send all failed deliveries again',
      body: ResendFailed,
      view: ResendCount,
      answers_no_record: true,
    },
    (tx, context, sent) => resendAllFailed(tx, context, service, sent),
  )
}

/** POST of a ping or of an example: the answer waits for its attempt. */
function testRoute(
  app: App,
  { write, rights, dispatcher, catalogue, event_names, buildBody }: WebhookService,
): void {
  const body = webhookBodies(event_names).WebhookTest
  operation(
    app,
    {
      method: 'POST',
      path: `${webhook_kind.path}/:webhook_id/test`,
      scope: webhook_kind.writes,
      summary: 'Send a ping or an example event and wait for its outcome',
      description:
        'The example is that of the event types, with `"test": true`. The delivery log has it; the feed of events has not.',
      params: WebhookParams,
      body,
      answers: { 200: Single(DeliveryDetail) },
      repeatable: true,
      guarded: true,
    },
    (request, reply) =>
      write.inSteps(request, reply, {
        async before(tx, context, problems) {
          const expect = (webhook: object) => checkMatch(request, webhook)
          const sent = { request, params: request.params, problems, expect }
          const { id: webhook_id, timeout_ms, format } = await webhookToChange(tx, rights, sent)
          const { event } = (request.body ?? {}) as Static<typeof body>
          const definition = catalogue.find(({ name }) => name === event) ?? ping
          const event_id =
            definition === ping
              ? insertEvent(tx, context, ping, ping.example)
              : insertTest(tx, context, definition)
          const to = { webhook_id, format: storedFormat(format) }
          const delivery = { ...to, event_id, event: definition.name, kind: 'ping' } as const
          return insertDelivery(tx, context, delivery, dispatcher.lease(timeout_ms))
        },
        meanwhile: (delivery_id, stopping) =>
          unlessStopped(stopping, dispatcher.attemptNow(request.access.workspace_id, delivery_id)),
        async after(tx, { workspace_id }, delivery_id) {
          const found = await findDelivery(tx, workspace_id, delivery_id, buildBody)
          return { record: withKind(rights, orNotFound('delivery', found)) }
        },
      }),
  )
}

async function resendAllFailed(
  tx: Tx,
  context: Context,
  { event_names, rights }: WebhookService,
  sent: OfWebhook<Static<typeof ResendFailed>>,
) {
  const { id: webhook_id, status } = await webhookToChange(tx, rights, sent)
  if (status === 'paused') throw conflict('webhook_paused', 'The webhook is paused: resume it first.')
  const since = sent.body?.since ?? null
  const { scopes } = sent.request.access
  const visible = scopes && event_names.filter((name) => rights.mayReadEvent(scopes, name))
  const count = await resendFailed(tx, context, { webhook_id, since, visible })
  if (count) recordChange(tx, context, { ...change('resent', webhook_id), after: { count } })
  return { body: single({ count }) }
}

/** Gives a webhook a new secret, which the answer shows. The old one still signs during the overlap. */
async function rotate(
  tx: Tx,
  context: Context,
  { rights, seal }: WebhookService,
  sent: OfWebhook<Static<typeof RotateSecret>>,
) {
  const { workspace_id } = context
  const { scopes } = await sent.recheck()
  const { secret, overlap_hours } = sent.body
  const problems = [...sent.problems, ...secretProblems(secret)]
  const before = await webhookToChange(tx, rights, { ...sent, problems }, scopes)
  const row = orNotFound('webhook', await findWebhookRow(tx, workspace_id, before.id))
  const fresh = secret ?? generateSecret()
  const overlap_ms = (overlap_hours ?? 24) * 3600 * 1000
  await updateWebhook(tx, workspace_id, before.id, rotateSecret(row, fresh, seal, context.now_ms, overlap_ms))
  const after = await existingWebhook(tx, workspace_id, before.id)
  await recordAction(tx, context, 'secret_rotated', before, after)
  return { record: after, shown: { ...after, secret: fresh } }
}

async function changeStatus(
  tx: Tx,
  context: Context,
  before: Webhook,
  status: 'paused' | 'active',
): Promise<Webhook> {
  const { workspace_id } = context
  await updateWebhook(tx, workspace_id, before.id, { status, status_reason: null })
  const after = await existingWebhook(tx, workspace_id, before.id)
  await recordAction(tx, context, status === 'paused' ? 'paused' : 'resumed', before, after)
  return after
}

/** Adds an action on a webhook to the audit log, with the changed fields of the answer of GET. */
async function recordAction(tx: Tx, context: Context, action: string, before: Webhook, after: Webhook) {
  const changes = changesBetween(before, after, ['status', 'status_reason', 'rotation_ends_at'])
  recordChange(tx, context, { ...change(action, after.id), ...(changes && auditSides(changes, after)) })
}
