import type { Db } from '../db/db.ts'
import { insertEvents } from '../db/event-order.ts'
import { newId } from '../db/ids.ts'
import { addCounts, countChanges } from '../db/lists/counts.ts'
import { shareSubscriptions } from '../db/locks.ts'
import { enqueueInOrder, recordKey } from '../db/queue-order.ts'
import { deferRows, rootOf } from '../db/statements/bulk.ts'
import { announce, defer, engineOf } from '../db/statements/prepare.ts'
import { prepareInsert } from '../db/statements/recordset.ts'
import { findSubscriptions, recipientsOf, type Subscription } from '../db/subscriptions.ts'
import { failedCondition } from './conditions.ts'
import type { Context } from './context.ts'
import { api_version, type Changes, type EventDefinition, exampleChanges } from './define.ts'

type Prepared = {
  workspace_id: number
  names: readonly string[]
  found: Promise<Subscription[]>
}
const prepared = new WeakMap<Db, Prepared>()

/**
 * Reads who is subscribed to events that this transaction may emit; the first call of a transaction decides. On PostgreSQL
 * the query is sent with the statements around this call, so that emit() does not wait for it. Call it before the record
 * is locked: another order could deadlock with the removal of a webhook. SQLite answers at once, so it reads in emit().
 */
export function prepareEmit(
  tx: Db,
  workspace_id: number,
  events: readonly (EventDefinition | null | undefined)[],
): void {
  if (engineOf(tx) === 'sqlite') return
  const names = events.flatMap((event) => event?.name ?? [])
  // A change without an event of its own may still read them for others.
  if (names.length) readSubscribers(tx, workspace_id, names)
}

/** Reads who is subscribed to events, once for all that this transaction will emit. On SQLite this pays off in bulk only. */
export function readSubscribers(tx: Db, workspace_id: number, names: readonly string[]): void {
  const root = rootOf(tx)
  if (prepared.has(root)) return
  const found = names.length ? subscriptionsTo(tx, workspace_id, names) : Promise.resolve([])
  defer(tx, found)
  prepared.set(root, { workspace_id, names, found })
}

/** Reads the subscriptions, and keeps a backfill from reading until the changes of this transaction can be read. */
function subscriptionsTo(tx: Db, workspace_id: number, names: readonly string[]): Promise<Subscription[]> {
  // A statement of its own: the read must begin after the lock is held.
  if (engineOf(tx) === 'postgres') defer(tx, shareSubscriptions(tx, workspace_id))
  return findSubscriptions(tx, workspace_id, names)
}

/**
 * Writes an event, and a delivery for each webhook that asked for it, in the transaction of the change. So an event exists exactly
 * when its change does. The payload is serialised here once; every attempt sends these bytes.
 */
export async function emit(
  tx: Db,
  context: Context,
  definition: EventDefinition,
  record: object,
  changes?: Changes,
): Promise<void> {
  const { workspace_id } = context
  const event = definition.name
  announce(tx, 'events')
  const payload = payloadFrom(context, definition, record, changes)
  const record_id = idOf(record)
  const event_id = insertPayload(tx, context, event, payload, record_id)
  const known = prepared.get(rootOf(tx))
  const is_known = known?.workspace_id === workspace_id && known.names.includes(event)
  const found = is_known ? known.found : subscriptionsTo(tx, workspace_id, [event])
  const recipients = recipientsOf(event, await found).filter(
    ({ conditions }) => conditions === null || !failedCondition(conditions, payload),
  )
  const delivery = { event_id, event, kind: 'event' as const, record_key: recordKey(event, record_id) }
  if (recipients.length) insertDeliveries(tx, context, delivery, recipients)
}

/**
 * Writes an event for one webhook alone, with its delivery, whatever events the webhook has. The feed leaves it out. False
 * when a condition of the webhook does not hold. The caller holds what a deletion of the webhook waits for.
 */
export function emitTo(
  tx: Db,
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
  insertDeliveries(tx, context, { event_id, event: name, kind: 'backfill', record_key }, [webhook])
  return true
}

/** Writes the example of an event, marked as a test. It has the name of a ping, so the feed leaves it out. Returns its id. */
export function insertTest(tx: Db, context: Context, definition: EventDefinition): string {
  const { name, example } = definition
  const changes = name.endsWith('.updated') ? exampleChanges(example) : {}
  const payload = { ...payloadFrom(context, definition, example, changes), test: true }
  return insertPayload(tx, context, 'ping', payload, null)
}

/** Writes an event without deliveries; returns its id. */
export function insertEvent(
  tx: Db,
  context: Context,
  definition: EventDefinition,
  record: object,
  changes?: Changes,
): string {
  const payload = payloadFrom(context, definition, record, changes)
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
  changes?: Partial<Changes>,
) => {
  const is_ping = definition.name === 'ping'
  return {
    id: newId('evt'),
    event: definition.name,
    timestamp: context.now,
    ...(!is_ping && unnumbered),
    data: project(definition, record),
    ...changes,
    ...context.merge,
    ...(!is_ping && originOf(context)),
  }
}

function insertPayload(
  tx: Db,
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
  deferRows(tx, insertEvents, [row])
  return id
}

type NewDelivery = {
  event_id: string
  event: string
  kind: 'event' | 'backfill' | 'ping'
  /** The record, for the order of deliveries. */
  record_key?: string | null
}

/** A webhook, and the form of its bodies as stored. */
type Recipient = { webhook_id: string; format: string | null; ordered?: 0 | 1 }

/** The lease of a delivery that the caller attempts itself. */
type Lease = { claim_id: string; ends_ms: number }

const addDeliveries = prepareInsert('webhook_deliveries', {
  id: 'text!',
  workspace_id: 'bigint!',
  webhook_id: 'text!',
  event_id: 'text!',
  event: 'text!',
  status: 'text!',
  next_attempt_at: 'text!',
  created_at: 'text!',
  format: 'text',
})

const enqueue = prepareInsert('webhook_queue', {
  delivery_id: 'text!',
  workspace_id: 'bigint!',
  webhook_id: 'text!',
  kind: 'text!',
  run_at_ms: 'bigint!',
  tries: 'bigint!',
  claim_id: 'text',
  claimed_at_ms: 'bigint',
})

/** Adds a delivery that is due now to the log and the queue; returns its id. */
export function insertDelivery(
  tx: Db,
  context: Context,
  { webhook_id, format, ...delivery }: NewDelivery & Recipient,
  lease?: Lease,
): string {
  const [id = ''] = insertDeliveries(tx, context, delivery, [{ webhook_id, format }], lease)
  return id
}

// Runs three statements for any number of webhooks, and a fourth one for ordered webhooks.
function insertDeliveries(
  tx: Db,
  { workspace_id, now, elapsed }: Context,
  { event_id, event, kind, record_key = null }: NewDelivery,
  recipients: readonly Recipient[],
  lease?: Lease,
): string[] {
  announce(tx, 'deliveries')
  const elapsed_ms = elapsed()
  const logged = recipients.map(({ webhook_id, format }) => ({
    id: newId('dlv'),
    workspace_id,
    webhook_id,
    event_id,
    event,
    status: 'pending',
    next_attempt_at: now,
    created_at: now,
    format,
  }))
  const queued = logged.map(({ id, webhook_id }) => ({
    delivery_id: id,
    workspace_id,
    webhook_id,
    kind,
    tries: 0,
    run_at_ms: lease?.ends_ms ?? elapsed_ms,
    claim_id: lease?.claim_id ?? null,
    claimed_at_ms: lease ? elapsed_ms : null,
  }))
  const counted = ['webhook_id', 'event', 'status']
  const counts = logged.flatMap((row) => countChanges(workspace_id, 'deliveries', counted, null, row))
  deferRows(tx, addDeliveries, logged)
  const in_order = new Set(recipients.flatMap(({ webhook_id, ordered }) => (ordered ? [webhook_id] : [])))
  const isOrdered = ({ webhook_id }: { webhook_id: string }) =>
    record_key !== null && in_order.has(webhook_id)
  deferRows(tx, enqueue, in_order.size ? queued.filter((row) => !isOrdered(row)) : queued)
  if (record_key !== null && in_order.size)
    deferRows(
      tx,
      enqueueInOrder,
      queued.filter(isOrdered).map((row) => ({ ...row, record_key })),
    )
  deferRows(tx, addCounts, counts)
  return logged.map(({ id }) => id)
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
