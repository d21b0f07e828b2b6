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
  const event = { id: newId('evt'), event: definition.name, timestamp: context.now }
  const payload = JSON.stringify({ ...event, data: project(definition, record), ...changes })
  const record_id = (record as { id?: number }).id ?? null
  const { workspace_id, now } = context
  await insertEvent(tx, { id: event.id, workspace_id, event: event.event, now, record_id, payload })
  for (const { webhook_id } of await subscribers(tx, { workspace_id, event: event.event }))
    await insertDelivery(tx, context, { webhook_id, event_id: event.id, event: event.event, kind: 'event' })
}

type NewDelivery = { webhook_id: string; event_id: string; event: string; kind: 'event' | 'ping' }

/** Adds a delivery that is due at once, to the log and to the queue; returns its id. */
export async function insertDelivery(tx: Db, context: Context, delivery: NewDelivery): Promise<string> {
  const { kind, ...logged } = delivery
  const id = newId('dlv')
  const { workspace_id, now, now_ms } = context
  await tx
    .insertInto('webhook_deliveries')
    .values({
      ...logged,
      id,
      workspace_id,
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: now,
      created_at: now,
      finished_at: null,
    })
    .execute()
  await tx
    .insertInto('webhook_queue')
    .values({
      delivery_id: id,
      workspace_id,
      webhook_id: logged.webhook_id,
      kind,
      run_at_ms: now_ms,
      tries: 0,
      claim_id: null,
      claimed_at_ms: null,
    })
    .execute()
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
