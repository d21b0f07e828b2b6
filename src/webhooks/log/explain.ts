import { type Static, Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { fanoutOf } from '../../db/fanouts.ts'
import { notFound } from '../../errors.ts'
import type { Condition } from '../../events/conditions.ts'
import { payloadOf } from '../../events/emit.ts'
import { Titled } from '../../http/fields.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import { condition_item } from '../registration/conditions.ts'
import { type Registration, reasonAgainst, registrationsAt } from '../registration/history.ts'
import type { WebhookService } from '../service.ts'

const verdicts = [
  'delivered',
  'pending',
  'failed',
  'cancelled',
  'paused',
  'not_subscribed',
  'condition_false',
  'created_later',
] as const
type Verdict = (typeof verdicts)[number]

const Explained = Titled('ExplainedDelivery', {
  webhook_id: Type.String({ examples: ['wh_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  verdict: Type.Unsafe<Verdict>({
    type: 'string',
    enum: verdicts,
    description:
      'Paused: the delivery waits until the webhook is resumed. Cancelled: its backfill was stopped.',
  }),
  condition: Type.Unsafe<Condition | null>({
    ...condition_item,
    type: ['object', 'null'],
    description: 'The first condition that did not hold.',
    examples: [{ field: 'data.value', op: 'gte', value: 10_000 }],
  }),
  seen: Type.Unknown({
    description: 'The value that the condition saw; null for a missing one.',
    examples: [1250.5],
  }),
})
type Explained = Static<typeof Explained>

const Params = Type.Object({ event_id: Type.String({ description: 'The id of an event.' }) })
const Answer = Type.Object({ success: Type.Literal(true), data: Type.Array(Explained) })

/** Says for an event why each webhook got it or not. */
export function explainRoute(app: App, { db, rights }: WebhookService): void {
  operation(
    app,
    {
      method: 'GET',
      path: '/api/v1/events/:event_id/explain',
      scope: 'webhooks:read',
      summary: 'Say why each webhook got an event or not',
      description:
        'Each webhook of the workspace, as it was judged when the event happened. An event for one webhook, such as a test, has that one only.',
      params: Params,
      answers: { 200: Answer },
    },
    async ({ access: { workspace_id, scopes }, params }) => {
      const event = await findEvent(db, workspace_id, params.event_id)
      if (!event || !rights.mayReadEvent(scopes, event.name)) throw notFound('This event')
      return { success: true as const, data: await explain(db, workspace_id, event) }
    },
  )
}

type EventRow = { id: string; seq: number; name: string; payload: string; is_for_all: boolean }

async function findEvent(db: Db, workspace_id: number, id: string): Promise<EventRow | null> {
  const row = await db
    .selectFrom('events')
    .select(['seq', 'event', 'payload', 'webhook_id'])
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  if (!row) return null
  const { seq, event, payload, webhook_id } = row
  const { event: name } = JSON.parse(payload) as { event: string }
  return { id, seq, name, payload, is_for_all: event !== 'ping' && webhook_id === null }
}

async function explain(db: Db, workspace_id: number, event: EventRow): Promise<Explained[]> {
  const webhooks = await db
    .selectFrom('webhooks')
    .select(['id', 'status'])
    .where('workspace_id', '=', workspace_id)
    .orderBy('seq')
    .execute()
  const deliveries = await db
    .selectFrom('webhook_deliveries')
    .select(['webhook_id', 'status'])
    .where((eb) => eb.and({ workspace_id, event_id: event.id }))
    .execute()
  const status_of = new Map(deliveries.map(({ webhook_id, status }) => [webhook_id, status]))
  if (status_of.size < webhooks.length)
    for (const webhook_id of await fanoutOf(db, workspace_id, event.id))
      if (!status_of.has(webhook_id)) status_of.set(webhook_id, 'pending')
  const others = webhooks.flatMap(({ id }) => (status_of.has(id) ? [] : [id]))
  const registrations = event.is_for_all ? await registrationsAt(db, workspace_id, event.seq, others) : []
  const asked = new Map(registrations.map((one) => [one.at.webhook_id, one]))
  return webhooks.flatMap(({ id: webhook_id, status }): Explained[] => {
    const delivery = status_of.get(webhook_id)
    if (delivery) return [{ webhook_id, ...ofDelivery(delivery, status) }]
    const registration = asked.get(webhook_id)
    return registration ? [{ webhook_id, ...ofNone(registration, event) }] : []
  })
}

type Reason = Omit<Explained, 'webhook_id'>
const plain = (verdict: Verdict): Reason => ({ verdict, condition: null, seen: null })

function ofDelivery(delivery: 'pending' | 'succeeded' | 'failed' | 'cancelled', webhook: string): Reason {
  if (delivery === 'succeeded') return plain('delivered')
  return plain(delivery === 'pending' && webhook === 'paused' ? 'paused' : delivery)
}

function ofNone({ at, before }: { at: Registration; before: Registration }, event: EventRow): Reason {
  const payload = JSON.parse(payloadOf(event))
  // Without a reason, the event's transaction did not see the registration yet: the one before it counted.
  const reason = reasonAgainst(at, event.name, payload) ?? reasonAgainst(before, event.name, payload)
  if (reason === 'no_webhook') return plain('created_later')
  if (reason === 'not_subscribed') return plain('not_subscribed')
  // After an erasure, the payload no longer has the value that the condition was evaluated on.
  return { verdict: 'condition_false', condition: reason?.condition ?? null, seen: reason?.seen ?? null }
}
