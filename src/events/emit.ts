import type { Tx } from '../db/db.ts'
import { insertEvents } from '../db/event-order.ts'
import { newId } from '../db/ids.ts'
import { shareSubscriptions } from '../db/locks.ts'
import { recordKey } from '../db/queue-order.ts'
import { findSubscriptions, recipientsOf, type Subscription } from '../db/subscriptions.ts'
import { failedCondition } from './conditions.ts'
import type { Context } from './context.ts'
import { api_version, type Changes, type EventDefinition, exampleChanges, type Links } from './define.ts'
import { insertDelivery, writeDeliveries } from './deliveries.ts'

/**
 * Reads who is subscribed to events that this transaction may emit; the first call of a transaction decides. On PostgreSQL
 * the query is sent with the statements around this call, so that emit() does not wait for it. Call it before the record
 * is locked: another order could deadlock with the removal of a webhook. SQLite answers at once, so it reads in emit().
 */
export function prepareEmit(
  tx: Tx,
  workspace_id: number,
  events: readonly (EventDefinition | null | undefined)[],
): void {
  if (tx.engine === 'sqlite') return
  const names = events.flatMap((event) => event?.name ?? [])
  // A change without an event of its own may still read them for others.
  if (names.length) readSubscribers(tx, workspace_id, names)
}

/** Reads who is subscribed to events, once for all that this transaction will emit. On SQLite this pays off in bulk only. */
export function readSubscribers(tx: Tx, workspace_id: number, names: readonly string[]): void {
  tx.once<Subscribers>('subscribers', (root) => {
    const found = names.length ? subscriptionsTo(root, workspace_id, names) : Promise.resolve([])
    root.defer(found)
    return { workspace_id, names, found }
  })
}

type Subscribers = { workspace_id: number; names: readonly string[]; found: Promise<Subscription[]> }

/** The webhooks that asked for an event, whatever their conditions. A transaction reads them once. */
const recipientsIn = (tx: Tx, workspace_id: number, event: string): Promise<Subscription[]> =>
  tx.once(`recipients ${workspace_id} ${event}`, async (root) => {
    const known = root.peek<Subscribers>('subscribers')
    const is_known = known?.workspace_id === workspace_id && known.names.includes(event)
    return recipientsOf(event, await (is_known ? known.found : subscriptionsTo(root, workspace_id, [event])))
  })

/** Reads the subscriptions, and keeps a backfill from reading until the changes of this transaction can be read. */
function subscriptionsTo(tx: Tx, workspace_id: number, names: readonly string[]): Promise<Subscription[]> {
  // A statement of its own: the read must begin after the lock is held.
  if (tx.engine === 'postgres') tx.defer(shareSubscriptions(tx, workspace_id))
  return findSubscriptions(tx, workspace_id, names)
}

/**
 * Writes an event, and a delivery for each webhook that asked for it, in the transaction of the change. So an event exists exactly
 * when its change does. The payload is serialised here once; every attempt sends these bytes. `beside` are its keys beside
 * `data`: the changes of an update, and the links of a booking.
 */
export async function emit(
  tx: Tx,
  context: Context,
  definition: EventDefinition,
  record: object,
  beside?: Changes | Partial<Links> | (Changes & Partial<Links>),
): Promise<void> {
  const { workspace_id } = context
  const event = definition.name
  tx.announce('events')
  // On PostgreSQL, the events of a commit take a lock, so the deliveries come before them.
  if (tx.engine === 'postgres') tx.atCommit(writeDeliveries, [])
  const payload = payloadFrom(context, definition, record, beside)
  const record_id = idOf(record)
  const event_id = insertPayload(tx, context, event, payload, record_id)
  const asked = await recipientsIn(tx, workspace_id, event)
  if (!asked.length) return
  const recipients = await meant(tx, asked, payload)
  const delivery = { event_id, event, kind: 'event' as const, record_key: recordKey(event, record_id) }
  if (recipients.length) tx.atCommit(writeDeliveries, [{ context, delivery, recipients }])
}

// Conditions are judged for this long before others get a turn of the event loop.
const max_turn_ms = 20

/** The webhooks whose conditions an event meets. The items of a batch judge in turn. */
async function meant(
  tx: Tx,
  asked: readonly Subscription[],
  payload: object,
): Promise<readonly Subscription[]> {
  if (asked.every(({ conditions }) => conditions === null)) return asked
  const turn: Turn = tx.once('turn of conditions', () => ({ began_ms: performance.now(), over: null }))
  while (turn.over) await turn.over
  const recipients = asked.filter(
    ({ conditions }) => conditions === null || !failedCondition(conditions, payload),
  )
  if (performance.now() - turn.began_ms > max_turn_ms) {
    const others = new Promise<void>((resolve) => setImmediate(resolve))
    turn.over = others.then(() => void Object.assign(turn, { began_ms: performance.now(), over: null }))
  }
  return recipients
}
type Turn = { began_ms: number; over: Promise<void> | null }

/**
 * Writes an event for one webhook alone, with its delivery, whatever events the webhook has. The feed leaves it out. False
 * when a condition of the webhook does not hold. The caller holds what a deletion of the webhook waits for.
 */
export function emitTo(
  tx: Tx,
  context: Context,
  definition: EventDefinition,
  record: { id: number },
  webhook: Omit<Subscription, 'event'>,
): boolean {
  const payload = payloadFrom(context, definition, record)
  const { webhook_id, conditions } = webhook
  if (conditions !== null && failedCondition(conditions, payload)) return false
  const event_id = insertPayload(tx, context, definition.name, payload, record.id, webhook_id)
  const { name } = definition
  const record_key = recordKey(name, record.id)
  insertDelivery(tx, context, { event_id, event: name, kind: 'backfill', record_key, ...webhook })
  return true
}

/** Writes the example of an event, marked as a test. It has the name of a ping, so the feed leaves it out. Returns its id. */
export function insertTest(tx: Tx, context: Context, definition: EventDefinition): string {
  const { name, example } = definition
  const changes = name.endsWith('.updated') ? exampleChanges(example) : {}
  const payload = { ...payloadFrom(context, definition, example, changes), test: true }
  return insertPayload(tx, context, 'ping', payload, null)
}

/** Writes an event without deliveries; returns its id. */
export function insertEvent(tx: Tx, context: Context, definition: EventDefinition, record: object): string {
  const payload = payloadFrom(context, definition, record)
  return insertPayload(tx, context, definition.name, payload, idOf(record))
}

const idOf = (record: object): number | null => {
  const { id } = record as { id?: unknown }
  return typeof id === 'number' ? id : null
}

const payloadFrom = (
  context: Context,
  definition: EventDefinition,
  record: object,
  beside?: Partial<Changes & Links>,
) => {
  const is_ping = definition.name === 'ping'
  return {
    id: newId('evt'),
    event: definition.name,
    timestamp: context.now,
    ...(!is_ping && unnumbered),
    data: project(definition, record),
    ...beside,
    ...context.merge,
    ...(!is_ping && originOf(context)),
  }
}

function insertPayload(
  tx: Tx,
  context: Context,
  event: string,
  payload: { id: string },
  record_id: number | null,
  webhook_id: string | null = null,
): string {
  const { workspace_id, now, traceparent = null } = context
  const { id } = payload
  const text = JSON.stringify(payload)
  const row = { id, workspace_id, event, occurred_at: now, record_id, payload: text, traceparent, webhook_id }
  tx.rows(insertEvents, [row])
  return id
}

const sources = { key: 'api', person: 'app', visitor: 'booking', command_line: 'service', service: 'service' }

/** The actor and the source of an event (contract: extensions, webhooks). */
function originOf({ actor, source, merge }: Context) {
  const { kind, id, name = null } = actor
  return {
    actor: { kind: kind === 'command_line' ? 'service' : kind, id, name },
    source: source ?? (merge ? 'merge' : sources[kind]),
    api_version,
  }
}

// The stored payload has 0 as its sequence: the database assigns `seq` when it stores the event.
const unnumbered = { sequence: 0 }
const hole = ',"sequence":0,"data":'

/**
 * The payload of a stored event for readers. Its `sequence` is the event's `seq`. Events of version 0.1 have none, so that
 * their retries send the bytes of the first attempt.
 */
export function payloadOf({ payload, seq }: { payload: string; seq: number }): string {
  // Only the id, the name and the time precede it, and none of them contains this text.
  return payload.replace(hole, () => `,"sequence":${seq},"data":`)
}

// Exactly the keys of the definition; null for a missing value.
function project({ fields }: EventDefinition, record: object): Record<string, unknown> {
  const values = record as Record<string, unknown>
  const data: Record<string, unknown> = {}
  for (const name of fields) data[name] = values[name] ?? null
  return data
}

/** The request body for a webhook: the payload with the webhook's id. It has the same bytes in each attempt. */
export function bodyFor(event: { payload: string; seq: number }, webhook_id: string): string {
  return payloadOf(event).replace(',"data":', () => `,"webhook_id":${JSON.stringify(webhook_id)},"data":`)
}
