import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { recordChange, sidesOf } from '../../events/audit.ts'
import { changesBetween } from '../../events/changes.ts'
import type { Context } from '../../events/context.ts'
import { defineEvent } from '../../events/define.ts'
import { insertDelivery, insertEventOf } from '../../events/emit.ts'
import type { Access } from '../../http/auth.ts'
import { Single, single } from '../../http/envelope.ts'
import { conflict, type FieldProblem, invalid, notFound } from '../../http/errors.ts'
import { checkMatch } from '../../http/etag.ts'
import type { App } from '../../http/server.ts'
import type { Answer } from '../../http/write.ts'
import { generateSecret } from '../delivery/signature.ts'
import { findWebhookRow, updateWebhook } from '../registration/queries.ts'
import {
  change,
  existingWebhook,
  secretProblems,
  type WebhookService,
  webhookToChange,
} from '../registration/routes.ts'
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
import { findDelivery } from './deliveries.ts'
import { resendFailed } from './resends.ts'

const ping = defineEvent('ping', 'A test of a webhook.', Type.Object({ message: Type.String() }), {
  message: 'pong',
})

/** What can be done with a webhook: pause and resume, rotate its secret, test it, send again what failed. */
export function webhookActionRoutes(
  app: App,
  { write, stillIn, seal, event_names, rights, dispatcher }: WebhookService,
): void {
  const { mayReadEvent, refuseUnreadable } = rights
  const act = (name: string) => `/api/v1/webhooks/:webhook_id/${name}`
  const options = <Body extends TSchema, View extends TSchema>(summary: string, body: Body, view: View) => ({
    config: { scope: 'webhooks:write' },
    schema: { 'x-extension': true, summary, params: WebhookParams, body, response: { 200: Single(view) } },
  })

  const status = (name: string, to: 'paused' | 'active', summary: string) =>
    app.post(
      act(name),
      options(summary, Type.Object({}, { additionalProperties: false }), Webhook),
      async (request, reply) => {
        const { webhook_id } = request.params
        const sent = await write(request, reply, async (tx, context, problems): Promise<Answer> => {
          const { workspace_id } = context
          const before = await webhookToChange(tx, workspace_id, webhook_id)
          checkMatch(request, before)
          if (problems.length) throw invalid(problems)
          refuseUnreadable(request.access.scopes, before.events)
          if (before.status === to) return { record: before }
          await updateWebhook(tx, workspace_id, webhook_id, { status: to, status_reason: null })
          if (to === 'paused') dispatcher.holdBack(webhook_id, 'pings go')
          const after = await existingWebhook(tx, workspace_id, webhook_id)
          await recordSides(tx, context, `${name}d`, before, after)
          return { record: after }
        })
        // Once more for what was claimed between the two: it had not seen the commit.
        if (to === 'paused') dispatcher.holdBack(webhook_id, 'pings go')
        return sent
      },
    )
  status('pause', 'paused', 'Pause a webhook: what happens meanwhile is kept')
  status('resume', 'active', 'Resume a webhook: what was kept is sent')

  app.post(
    act('rotate-secret'),
    options('Rotate the secret without a gap', RotateSecret, WebhookRotated),
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now_ms } = context
        const { webhook_id } = request.params
        const { scopes } = await stillIn(tx, request)
        const before = await webhookToChange(tx, workspace_id, webhook_id)
        checkMatch(request, before)
        const { secret, overlap_hours } = request.body
        const all = [...problems, ...secretProblems(secret)]
        if (all.length) throw invalid(all)
        refuseUnreadable(scopes, before.events)
        const row = await findWebhookRow(tx, workspace_id, webhook_id)
        if (!row) throw notFound('This webhook')
        const fresh = secret ?? generateSecret()
        const overlap_ms = (overlap_hours ?? 24) * 3600 * 1000
        await updateWebhook(tx, workspace_id, webhook_id, rotateSecret(row, fresh, seal, now_ms, overlap_ms))
        const after = await existingWebhook(tx, workspace_id, webhook_id)
        await recordSides(tx, context, 'secret_rotated', before, after)
        return { record: after, shown: { ...after, secret: fresh } }
      }),
  )

  app.post(
    act('test'),
    options(
      'Send a ping and wait for its outcome',
      Type.Object({}, { additionalProperties: false }),
      DeliveryDetail,
    ),
    (request, reply) =>
      write.inSteps(request, reply, {
        before: (tx, context, problems) => insertPing(tx, context, request, problems),
        meanwhile: (delivery_id) => dispatcher.attemptNow(request.access.workspace_id, delivery_id),
        async after(tx, { workspace_id }, delivery_id) {
          const delivery = await findDelivery(tx, workspace_id, delivery_id)
          if (!delivery) throw notFound('This delivery')
          return { record: delivery }
        },
      }),
  )

  async function insertPing(
    tx: Db,
    context: Context,
    request: { params: Static<typeof WebhookParams>; access: Access } & Parameters<typeof checkMatch>[0],
    problems: FieldProblem[],
  ) {
    const { webhook_id } = request.params
    const webhook = await webhookToChange(tx, context.workspace_id, webhook_id)
    checkMatch(request, webhook)
    if (problems.length) throw invalid(problems)
    refuseUnreadable(request.access.scopes, webhook.events)
    const event_id = await insertEventOf(tx, context, ping, { message: 'This is a test of your webhook.' })
    return insertDelivery(
      tx,
      context,
      { webhook_id, event_id, event: ping.name, kind: 'ping' },
      dispatcher.lease(),
    )
  }

  app.post(
    act('resend-failed'),
    options('Send all failed deliveries again', ResendFailed, ResendCount),
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const { webhook_id } = request.params
        const webhook = await webhookToChange(tx, workspace_id, webhook_id)
        checkMatch(request, webhook)
        if (problems.length) throw invalid(problems)
        const { scopes } = request.access
        refuseUnreadable(scopes, webhook.events)
        if (webhook.status === 'paused') throw conflict('The webhook is paused: resume it first.')
        const since = request.body?.since ? new Date(request.body.since).toISOString() : null
        const visible = scopes && event_names.filter((name) => mayReadEvent(scopes, name))
        const when = { now, elapsed_ms: context.elapsed() }
        const count = await resendFailed(tx, workspace_id, when, { webhook_id, since, visible })
        if (count) await recordChange(tx, context, { ...change('resent', webhook_id), after: { count } })
        return { body: single({ count }) }
      }),
  )
}

/** Tells the audit log what an operation made of a webhook, as GET shows it. */
async function recordSides(tx: Db, context: Context, action: string, before: Webhook, after: Webhook) {
  const told = changesBetween(before, after, ['status', 'status_reason', 'rotation_ends_at'])
  await recordChange(tx, context, { ...change(action, after.id), ...(told && sidesOf(told, after)) })
}
