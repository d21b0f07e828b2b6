import { type TSchema, Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { conflict, notFound } from '../../errors.ts'
import { auditSides, recordChange } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import { defineEvent } from '../../events/define.ts'
import { insertDelivery, insertEventOf } from '../../events/emit.ts'
import { Single, single } from '../../http/envelope.ts'
import { NoFields } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { generateSecret } from '../delivery/signature.ts'
import { findWebhookRow, updateWebhook } from '../registration/queries.ts'
import {
  DeliveryDetail,
  ResendCount,
  ResendFailed,
  RotateSecret,
  Webhook,
  WebhookParams,
  WebhookRotated,
} from '../registration/schema.ts'
import { rotateSecret } from '../registration/secrets.ts'
import { change, existingWebhook, secretProblems, webhookToChange } from '../registration/webhooks.ts'
import type { WebhookService } from '../service.ts'
import { findDelivery } from './deliveries.ts'
import { resendFailed } from './resends.ts'

const ping = defineEvent('ping', 'A test of a webhook.', Type.Object({ message: Type.String() }), {
  message: 'pong',
})

const action = <Body extends TSchema, View extends TSchema>(
  name: string,
  summary: string,
  body: Body,
  view: View,
) =>
  ({
    method: 'POST',
    path: `/api/v1/webhooks/:webhook_id/${name}`,
    scope: 'webhooks:write',
    summary,
    params: WebhookParams,
    body,
    answers: { 200: Single(view) },
    extension: true,
    repeatable: true,
    guarded: true,
  }) as const

/** The actions on a webhook: pause and resume, rotate the secret, send a ping, send all failed deliveries again. */
export function webhookActionRoutes(
  app: App,
  { write, recheckAccess, seal, event_names, rights, dispatcher }: WebhookService,
): void {
  operation(
    app,
    action('pause', 'Pause a webhook: what happens meanwhile is kept', NoFields, Webhook),
    async (request, reply) => {
      const { webhook_id } = request.params
      const sent = await write(request, reply, async (tx, context, problems) => {
        const before = await webhookToChange(tx, rights, request, problems)
        if (before.status === 'paused') return { record: before }
        const record = await changeStatus(tx, context, before, 'paused')
        dispatcher.holdBack(webhook_id, 'pings go')
        return { record }
      })
      // Again, for deliveries that were claimed before the commit.
      dispatcher.holdBack(webhook_id, 'pings go')
      return sent
    },
  )

  operation(
    app,
    action('resume', 'Resume a webhook: what was kept is sent', NoFields, Webhook),
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const before = await webhookToChange(tx, rights, request, problems)
        if (before.status === 'active') return { record: before }
        return { record: await changeStatus(tx, context, before, 'active') }
      }),
  )

  operation(
    app,
    action('rotate-secret', 'Rotate the secret without a gap', RotateSecret, WebhookRotated),
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now_ms } = context
        const { webhook_id } = request.params
        const { scopes } = await recheckAccess(tx, request)
        const { secret, overlap_hours } = request.body
        const all = [...problems, ...secretProblems(secret)]
        const before = await webhookToChange(tx, rights, request, all, scopes)
        const row = await findWebhookRow(tx, workspace_id, webhook_id)
        if (!row) throw notFound('This webhook')
        const fresh = secret ?? generateSecret()
        const overlap_ms = (overlap_hours ?? 24) * 3600 * 1000
        await updateWebhook(tx, workspace_id, webhook_id, rotateSecret(row, fresh, seal, now_ms, overlap_ms))
        const after = await existingWebhook(tx, workspace_id, webhook_id)
        await recordAction(tx, context, 'secret_rotated', before, after)
        return { record: after, shown: { ...after, secret: fresh } }
      }),
  )

  operation(
    app,
    action('test', 'Send a ping and wait for its outcome', NoFields, DeliveryDetail),
    (request, reply) =>
      write.inSteps(request, reply, {
        async before(tx, context, problems) {
          const { id: webhook_id } = await webhookToChange(tx, rights, request, problems)
          const message = 'This is a test of your webhook.'
          const event_id = await insertEventOf(tx, context, ping, { message })
          const delivery = { webhook_id, event_id, event: ping.name, kind: 'ping' } as const
          return insertDelivery(tx, context, delivery, dispatcher.lease())
        },
        meanwhile: (delivery_id) => dispatcher.attemptNow(request.access.workspace_id, delivery_id),
        async after(tx, { workspace_id }, delivery_id) {
          const delivery = await findDelivery(tx, workspace_id, delivery_id)
          if (!delivery) throw notFound('This delivery')
          return { record: delivery }
        },
      }),
  )

  operation(
    app,
    action('resend-failed', 'Send all failed deliveries again', ResendFailed, ResendCount),
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const { id: webhook_id, status } = await webhookToChange(tx, rights, request, problems)
        if (status === 'paused') throw conflict('The webhook is paused: resume it first.')
        const since = request.body?.since ? new Date(request.body.since).toISOString() : null
        const { scopes } = request.access
        const visible = scopes && event_names.filter((name) => rights.mayReadEvent(scopes, name))
        const when = { now, elapsed_ms: context.elapsed() }
        const count = await resendFailed(tx, workspace_id, when, { webhook_id, since, visible })
        if (count) await recordChange(tx, context, { ...change('resent', webhook_id), after: { count } })
        return { body: single({ count }) }
      }),
  )
}

async function changeStatus(
  tx: Db,
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
async function recordAction(tx: Db, context: Context, action: string, before: Webhook, after: Webhook) {
  const told = changesBetween(before, after, ['status', 'status_reason', 'rotation_ends_at'])
  await recordChange(tx, context, { ...change(action, after.id), ...(told && auditSides(told, after)) })
}
