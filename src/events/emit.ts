import { recount } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import { prepare } from '../db/prepare.ts'
import type { Context } from './context.ts'
import type { Changes, EventDefinition } from './define.ts'

const insertEvent = prepare(
  (
    db,
    p: {
      id: string
      workspace_id: number
      event: string
      now: string
      record_id: number | null
      payload: string
    },
  ) =>
    db.insertInto('events').values({
      id: p.id,
      workspace_id: p.workspace_id,
      event: p.event,
      occurred_at: p.now,
      record_id: p.record_id,
      payload: p.payload,
    }),
)

const subscribers = prepare((db, p: { workspace_id: number; event: string }) =>
  db
    .selectFrom('webhook_subscriptions')
    .select('webhook_id')
    .where('workspace_id', '=', p.workspace_id)
    .where('event', '=', p.event),
)

/**
 * Writes an event and a delivery for each webhook that asked for it, in the transaction of the change itself: an event
 * exists exactly when its change does. The bytes are made here, once; delivery only ships them.
 */
export async function emit(
  tx: Db,
  context: Context,
  definition: EventDefinition,
  record: object,
  changes?: Changes,
): Promise<void> {
  const { workspace_id } = context
  const event_id = await insertEventOf(tx, context, definition, record, changes)
  const event = definition.name
  for (const { webhook_id } of await subscribers(tx, { workspace_id, event }))
    await insertDelivery(tx, context, { webhook_id, event_id, event, kind: 'event' })
}

/** Writes the event alone, for no webhook; returns its id. */
export async function insertEventOf(
  tx: Db,
  context: Context,
  definition: EventDefinition,
  record: object,
  changes?: Changes,
): Promise<string> {
  const event = { id: newId('evt'), event: definition.name, timestamp: context.now }
  const payload = JSON.stringify({ ...event, data: project(definition, record), ...changes })
  const { id } = record as { id?: unknown }
  const record_id = typeof id === 'number' ? id : null
  const { workspace_id, now } = context
  await insertEvent(tx, { id: event.id, workspace_id, event: event.event, now, record_id, payload })
  return event.id
}

type NewDelivery = { webhook_id: string; event_id: string; event: string; kind: 'event' | 'ping' }

/** The lease of a delivery whose maker attempts it itself. */
type Lease = { claim_id: string; ends_ms: number }

const addDelivery = prepare(
  (
    db,
    p: { id: string; workspace_id: number; webhook_id: string; event_id: string; event: string; now: string },
  ) =>
    db.insertInto('webhook_deliveries').values({
      id: p.id,
      workspace_id: p.workspace_id,
      webhook_id: p.webhook_id,
      event_id: p.event_id,
      event: p.event,
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: p.now,
      created_at: p.now,
      finished_at: null,
    }),
)

type Queued = {
  delivery_id: string
  workspace_id: number
  webhook_id: string
  kind: NewDelivery['kind']
  run_at_ms: number
  claim_id: string | null
  claimed_at_ms: number | null
}
const enqueue = prepare((db, p: Queued) =>
  db.insertInto('webhook_queue').values({
    delivery_id: p.delivery_id,
    workspace_id: p.workspace_id,
    webhook_id: p.webhook_id,
    kind: p.kind,
    run_at_ms: p.run_at_ms,
    tries: 0,
    claim_id: p.claim_id,
    claimed_at_ms: p.claimed_at_ms,
  }),
)

/** Adds a delivery that is due at once, to the log and to the queue; returns its id. */
export async function insertDelivery(
  tx: Db,
  context: Context,
  delivery: NewDelivery,
  lease?: Lease,
): Promise<string> {
  const { kind, webhook_id, event_id, event } = delivery
  const { workspace_id, now, now_ms } = context
  const id = newId('dlv')
  await addDelivery(tx, { id, workspace_id, webhook_id, event_id, event, now })
  await enqueue(tx, {
    delivery_id: id,
    workspace_id,
    webhook_id,
    kind,
    run_at_ms: lease?.ends_ms ?? now_ms,
    claim_id: lease?.claim_id ?? null,
    claimed_at_ms: lease ? now_ms : null,
  })
  const counted = { webhook_id, event, status: 'pending' }
  await recount(tx, workspace_id, 'deliveries', ['webhook_id', 'event', 'status'], null, counted)
  return id
}

// The keys of the definition and no others, null where the record has no value.
function project(definition: EventDefinition, record: object): Record<string, unknown> {
  const { properties } = definition.data as unknown as { properties: Record<string, unknown> }
  const values = record as Record<string, unknown>
  return Object.fromEntries(Object.keys(properties).map((name) => [name, values[name] ?? null]))
}

/** The body that is sent to one webhook: the stored text with the webhook's id put in, the same bytes every time. */
export function bodyFor(payload: string, webhook_id: string): string {
  // Before "data" stand only the id, the name and the time, which contain no such text.
  return payload.replace(',"data":', () => `,"webhook_id":${JSON.stringify(webhook_id)},"data":`)
}
