import type { Db, Tx } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { conflict, invalid, notFound, refuse } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Access } from '../../http/auth.ts'
import { endpoints } from '../../http/endpoints.ts'
import { flag, ListQuery, NoFields, time } from '../../http/fields.ts'
import {
  acceptedCodes,
  codesFilter,
  idsFilter,
  numbersFilter,
  textsFilter,
  wantedIds,
  wantedNumbers,
  wantedTexts,
} from '../../http/filter-parameters.ts'
import { cursor, pagesBy } from '../../http/lists.ts'
import type { ReadRights, Scopes } from '../../http/scopes.ts'
import type { App } from '../../http/server.ts'
import { findBlockerOf } from '../delivery/in-order.ts'
import { findWebhook } from '../registration/queries.ts'
import { Delivery, DeliveryDetail, DeliveryParams, delivery_statuses } from '../registration/schema.ts'
import type { WebhookService } from '../service.ts'
import { findDelivery, type LogRow, listDeliveries, withKind } from './deliveries.ts'
import { resend } from './resends.ts'
import { lockQueued, type QueuedRow, sendNow } from './send-now.ts'

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
  })
  const names = [...event_names, 'ping']
  const kinds = [...rights.group_of_kind.keys()]
  const visibleTo = (scopes: Scopes) => scopes && names.filter((name) => rights.mayReadEvent(scopes, name))
  const query = ListQuery({
    cursor,
    webhook_id: textsFilter('webhook_id'),
    event: codesFilter('event', names),
    event_id: textsFilter('event_id'),
    kind: codesFilter('kind', kinds),
    record_id: idsFilter('record_id', 'The record of the event. Needs one kind.'),
    id: idsFilter('id', 'The same as `record_id`.'),
    status: codesFilter('status', delivery_statuses),
    status_code: numbersFilter('status_code', 'The status of the newest answer.'),
    from: time('Created at or after this time.'),
    to: time('Created at or before this time.'),
    details: flag(
      'true: each delivery has last_duration_ms, last_response_status, last_error_code and title.',
    ),
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
        ...recordFilters(query, rights, names),
        event_id: wantedTexts('event_id', query.event_id),
        status: acceptedCodes('status', delivery_statuses, query.status),
        status_code: wantedNumbers('status_code', query.status_code),
        from: query.from,
        to: query.to,
      }
      const details = query.details === 'true'
      return reading(async (db) => {
        const { records, ...list } = await listDeliveries(
          db,
          workspace_id,
          filters,
          page,
          visibleTo(scopes),
          details,
        )
        const shown = records.map((record) => withKind(rights, record))
        return { ...list, records: details ? await withTitles(db, service, workspace_id, shown) : shown }
      })
    },
  )

  deliveries.read(
    { summary: 'Read a delivery with its attempts', view: DeliveryDetail },
    ({ access, params }) => existing(db, service, access, params.delivery_id),
  )

  deliveries.verb(
    {
      name: 'resend',
      summary: 'Send a delivery now',
      description:
        'A finished delivery: one attempt, without retries. A pending one: its next attempt comes at once, and its retries follow as usual. 409: it is cancelled, its webhook is paused or deleted, or it waits for an earlier delivery of its record because the webhook is ordered.',
      body: NoFields,
      view: DeliveryDetail,
    },
    async (tx, context, { request: { access }, params: { delivery_id }, problems, expect }) => {
      const { workspace_id } = context
      const { webhook_id } = await existing(tx, service, access, delivery_id)
      // Lock the webhook first, then the queue, as deletions and outcomes do, so that they cannot deadlock.
      await lockRow(tx, 'webhooks', workspace_id, webhook_id)
      const queued = await lockQueued(tx, workspace_id, delivery_id)
      await lockRow(tx, 'webhook_deliveries', workspace_id, delivery_id)
      const delivery = await existing(tx, service, access, delivery_id)
      expect(delivery)
      refuse(problems)
      await sendAgain(tx, context, rights, access, { delivery, queued })
      return { record: await existing(tx, service, access, delivery_id) }
    },
  )
}

type Queried = { event?: string; kind?: string; record_id?: string | number; id?: string | number }

/** The filters by the event and its record. Throws 422 for a record without one kind. */
function recordFilters(query: Queried, { kindOfEvent, group_of_kind }: ReadRights, names: readonly string[]) {
  const event = acceptedCodes('event', names, query.event)
  const kinds = acceptedCodes('kind', [...group_of_kind.keys()], query.kind)
  const [field, text] = query.record_id === undefined ? ['id', query.id] : ['record_id', query.record_id]
  if (text !== undefined && kinds?.length !== 1)
    throw invalid([{ field: 'kind', code: 'required', message: `${field} needs one kind.` }])
  const of_kinds = names.filter((name) => kinds?.includes(kindOfEvent(name) ?? ''))
  return {
    event: kinds ? of_kinds.filter((name) => event?.includes(name) ?? true) : event,
    record_id: wantedIds(String(field), text === undefined ? undefined : String(text)),
  }
}

type Shown = LogRow & { kind: string | null }

/** The same deliveries with the present titles of their records. */
async function withTitles(
  db: Db,
  { findTitles }: WebhookService,
  workspace_id: number,
  shown: readonly Shown[],
) {
  const records = shown.flatMap(({ kind, record_id }) =>
    kind === null ? [] : { kind, id: String(record_id) },
  )
  const titleOf = await findTitles(db, workspace_id, records)
  return shown.map((one) => ({ ...one, title: one.kind && titleOf(one.kind, String(one.record_id)) }))
}

type Locked = { delivery: DeliveryDetail; queued: QueuedRow | null }

/**
 * Sends a locked delivery now: a finished one once more, a pending one before its time. Throws 409 if its webhook cannot
 * receive it or it must wait. Throws 403 if the caller may not read the webhook's events.
 */
async function sendAgain(
  tx: Tx,
  context: Context,
  { refuseUnreadable }: ReadRights,
  { scopes }: Caller,
  { delivery: { id, status, webhook_id, next_attempt_at }, queued }: Locked,
): Promise<void> {
  if (status === 'cancelled')
    throw conflict('delivery_cancelled', 'The delivery is cancelled: it cannot be sent again.')
  const { workspace_id, now } = context
  const webhook = await findWebhook(tx, workspace_id, webhook_id)
  if (!webhook) throw conflict('webhook_deleted', 'The webhook of this delivery was deleted.')
  refuseUnreadable(scopes, webhook.events)
  if (webhook.status === 'paused') throw conflict('webhook_paused', 'The webhook is paused: resume it first.')
  const when = { now, elapsed_ms: context.elapsed() }
  const change = { action: 'resent', kind: 'deliveries', record_id: id }
  if (status !== 'pending') {
    await resend(tx, workspace_id, when, [id], [status])
    return recordChange(tx, context, { ...change, before: { status }, after: { status: 'pending' } })
  }
  const blocking = queued && (await findBlockerOf(tx, queued))
  if (blocking)
    throw conflict(
      'delivery_waits',
      `The webhook is ordered, and the earlier delivery ${blocking} of this record is not finished: send that one first.`,
    )
  if (queued && (await sendNow(tx, queued, when)))
    recordChange(tx, context, { ...change, before: { next_attempt_at }, after: { next_attempt_at: now } })
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
  return withKind(rights, delivery)
}
