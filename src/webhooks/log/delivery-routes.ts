import type { Db } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { conflict, notFound, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { flag, ListQuery, NoFields, time } from '../../http/fields.ts'
import { acceptedCodes, codesFilter, textsFilter, wantedTexts } from '../../http/filter-parameters.ts'
import { cursor, pagesBy } from '../../http/lists.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import type { App } from '../../http/server.ts'
import { findWebhook } from '../registration/queries.ts'
import { Delivery, DeliveryDetail, DeliveryParams, delivery_statuses } from '../registration/schema.ts'
import type { WebhookService } from '../service.ts'
import { findDelivery, listDeliveries } from './deliveries.ts'
import { resend } from './resends.ts'

type Caller = Pick<Access, 'workspace_id' | 'scopes'>

/** The delivery log: every request that was sent to a webhook, with its answer. */
export function deliveryRoutes(app: App, service: WebhookService): void {
  const { db, reading, event_names, rights } = service
  const deliveries = endpoints(app, service, {
    path: '/api/v1/deliveries',
    params: DeliveryParams,
    reads: 'webhooks:read',
    writes: 'webhooks:write',
    noun: 'delivery',
    extension: true,
  })
  const names = [...event_names, 'ping']
  const visibleTo = (scopes: Scopes) => scopes && names.filter((name) => rights.mayReadEvent(scopes, name))
  const query = ListQuery({
    cursor,
    webhook_id: textsFilter('webhook_id'),
    event: codesFilter('event', names),
    status: codesFilter('status', delivery_statuses),
    from: time('Created at or after this time.'),
    to: time('Created at or before this time.'),
    details: flag('true: each delivery has last_duration_ms, last_response_status and last_error_code.'),
  })

  deliveries.list(
    {
      summary: 'List deliveries',
      description: 'Only deliveries of pings, and of events of kinds that the caller may read.',
      query,
      view: Delivery,
      pages: pagesBy('-id of deliveries', 'string'),
    },
    ({ access: { workspace_id, scopes }, query }, { page }) => {
      const webhooks = wantedTexts('webhook_id', query.webhook_id)
      const filters = {
        webhook_id: webhooks?.any.length ? webhooks.any : undefined,
        other_webhooks: webhooks?.not,
        event: acceptedCodes('event', names, query.event),
        status: acceptedCodes('status', delivery_statuses, query.status),
        from: query.from,
        to: query.to,
      }
      const details = query.details === 'true'
      return reading((db) => listDeliveries(db, workspace_id, filters, page, visibleTo(scopes), details))
    },
  )

  deliveries.read(
    { summary: 'Read a delivery with its attempts', view: DeliveryDetail },
    ({ access, params }) => existing(db, service, access, params.delivery_id),
  )

  deliveries.verb(
    {
      name: 'resend',
      summary: 'Send a finished delivery again, once',
      body: NoFields,
      view: DeliveryDetail,
    },
    async (tx, context, { request: { access }, params: { delivery_id }, problems, expect }) => {
      const { workspace_id } = context
      const { webhook_id } = await existing(tx, service, access, delivery_id)
      // Lock the webhook first, as a deletion does, so that the two cannot deadlock.
      await lockRow(tx, 'webhooks', workspace_id, webhook_id)
      await lockRow(tx, 'webhook_deliveries', workspace_id, delivery_id)
      const delivery = await existing(tx, service, access, delivery_id)
      expect(delivery)
      refuse(problems)
      await resendDelivery(tx, context, rights, access, delivery)
      return { record: await existing(tx, service, access, delivery_id) }
    },
  )
}

/**
 * Sends a locked delivery again, for one attempt. Throws 409 if it is not finished or its webhook cannot receive it.
 * Throws 403 if the caller may not read the webhook's events.
 */
async function resendDelivery(
  tx: Db,
  context: Context,
  { refuseUnreadable }: ReadRights,
  { scopes }: Caller,
  { id, status, webhook_id }: DeliveryDetail,
): Promise<void> {
  if (status !== 'succeeded' && status !== 'failed')
    throw conflict(
      'delivery_unfinished',
      `The delivery is ${status}: only succeeded and failed ones can be sent again.`,
    )
  const { workspace_id, now } = context
  const webhook = await findWebhook(tx, workspace_id, webhook_id)
  if (!webhook) throw conflict('webhook_deleted', 'The webhook of this delivery was deleted.')
  refuseUnreadable(scopes, webhook.events)
  if (webhook.status === 'paused') throw conflict('webhook_paused', 'The webhook is paused: resume it first.')
  await resend(tx, workspace_id, { now, elapsed_ms: context.elapsed() }, [id], [status])
  recordChange(tx, context, {
    action: 'resent',
    kind: 'deliveries',
    record_id: id,
    before: { status },
    after: { status: 'pending' },
  })
}

/** The delivery, or 404. An event that the caller may not read is 404 too. */
async function existing(
  db: Db,
  { rights, buildBody }: WebhookService,
  { workspace_id, scopes }: Caller,
  id: string,
): Promise<DeliveryDetail> {
  const delivery = await findDelivery(db, workspace_id, id, buildBody)
  if (!delivery || !rights.mayReadEvent(scopes, delivery.event)) throw notFound('This delivery')
  return delivery
}
