import { Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { recordChange } from '../../events/audit.ts'
import type { Access } from '../../http/auth.ts'
import { List, Single } from '../../http/envelope.ts'
import { conflict, invalid, notFound } from '../../http/errors.ts'
import { checkMatch, sendRecord } from '../../http/etag.ts'
import { ListQuery, time } from '../../http/fields.ts'
import { cursor, pageAnswer, pageOf } from '../../http/lists.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { findWebhook } from '../registration/queries.ts'
import { Delivery, DeliveryDetail, DeliveryParams, delivery_statuses } from '../registration/schema.ts'
import { findDelivery, listDeliveries } from './deliveries.ts'
import { resend } from './resends.ts'

const path = '/api/v1/deliveries'
const extension = { 'x-extension': true }
const order = '-id of deliveries'

type Caller = Pick<Access, 'workspace_id' | 'scopes'>

/** The delivery log: every request that was sent to a webhook, and what came back. */
export function deliveryRoutes(app: App, { db, reading, write, event_names, rights }: Service): void {
  const { mayReadEvent, refuseUnreadable } = rights
  const shownOf = (scopes: Scopes) =>
    scopes && [...event_names, 'ping'].filter((name) => mayReadEvent(scopes, name))
  const querystring = ListQuery({
    cursor,
    webhook_id: Type.Optional(Type.String()),
    event: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: [...event_names, 'ping'] })),
    status: Type.Optional(Type.Unsafe<Delivery['status']>({ type: 'string', enum: delivery_statuses })),
    from: time('Created at or after this time.'),
    to: time('Created at or before this time.'),
    details: Type.Optional(
      Type.Unsafe<'true' | 'false'>({
        type: 'string',
        enum: ['true', 'false'],
        description: 'true: each delivery with last_duration_ms.',
      }),
    ),
  })

  app.get(
    path,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        ...extension,
        summary: 'List deliveries',
        description: 'Of events of kinds that the key may read, and of pings.',
        querystring,
        response: { 200: List(Delivery) },
      },
    },
    async (request) => {
      const page = pageOf(request.query, order, ['string'])
      const { webhook_id, event, status, from, to, details } = request.query
      const filters = { webhook_id, event, status, from, to }
      const { workspace_id, scopes } = request.access
      const { deliveries, ...found } = await reading((db) =>
        listDeliveries(db, workspace_id, filters, page, shownOf(scopes), details === 'true'),
      )
      return pageAnswer(deliveries, found, order, page)
    },
  )

  app.get(
    `${path}/:delivery_id`,
    {
      config: { scope: 'webhooks:read' },
      schema: {
        ...extension,
        summary: 'Read a delivery with its attempts',
        params: DeliveryParams,
        response: { 200: Single(DeliveryDetail) },
      },
    },
    async (request, reply) =>
      sendRecord(request, reply, await existing(db, rights, request.access, request.params.delivery_id)),
  )

  app.post(
    `${path}/:delivery_id/resend`,
    {
      config: { scope: 'webhooks:write' },
      schema: {
        ...extension,
        summary: 'Send a finished delivery again, once',
        params: DeliveryParams,
        body: Type.Object({}, { additionalProperties: false }),
        response: { 200: Single(DeliveryDetail) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id, now } = context
        const { delivery_id } = request.params
        const { webhook_id } = await existing(tx, rights, request.access, delivery_id)
        // The webhook first, as everybody does: a deletion takes both in this order.
        await lockRow(tx, 'webhooks', workspace_id, webhook_id)
        await lockRow(tx, 'webhook_deliveries', workspace_id, delivery_id)
        const delivery = await existing(tx, rights, request.access, delivery_id)
        checkMatch(request, delivery)
        if (problems.length) throw invalid(problems)
        if (delivery.status !== 'succeeded' && delivery.status !== 'failed')
          throw conflict(
            `The delivery is ${delivery.status}: only succeeded and failed ones can be sent again.`,
          )
        const webhook = await findWebhook(tx, workspace_id, delivery.webhook_id)
        if (!webhook) throw conflict('The webhook of this delivery was deleted.')
        refuseUnreadable(request.access.scopes, webhook.events)
        if (webhook.status === 'paused') throw conflict('The webhook is paused: resume it first.')
        const when = { now, elapsed_ms: context.elapsed() }
        await resend(tx, workspace_id, when, [delivery_id], [delivery.status])
        const record = await existing(tx, rights, request.access, delivery_id)
        await recordChange(tx, context, {
          ...{ action: 'resent', kind: 'deliveries', record_id: delivery_id },
          ...{ before: { status: delivery.status }, after: { status: record.status } },
        })
        return { record }
      }),
  )
}

/** The delivery, or 404: also for an event of a kind that the caller may not read. */
async function existing(
  db: Db,
  rights: ReadRights,
  { workspace_id, scopes }: Caller,
  id: string,
): Promise<DeliveryDetail> {
  const delivery = await findDelivery(db, workspace_id, id)
  if (!delivery || !rights.mayReadEvent(scopes, delivery.event)) throw notFound('This delivery')
  return delivery
}
