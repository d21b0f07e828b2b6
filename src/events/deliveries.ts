import type { Tx } from '../db/db.ts'
import { waitInFanout } from '../db/fanouts.ts'
import { newId } from '../db/ids.ts'
import { addCounts, countChanges } from '../db/lists/counts.ts'
import { enqueueInOrder } from '../db/queue-order.ts'
import { prepareInsert } from '../db/statements/recordset.ts'
import type { Context } from './context.ts'

type NewDelivery = {
  event_id: string
  event: string
  kind: 'event' | 'backfill' | 'ping'
  /** The record, for the order of deliveries. */
  record_key?: string | null
}

/** A webhook, and the form of its bodies as stored. */
type Recipient = { webhook_id: string; format: string | null; ordered?: 0 | 1 | undefined }

/** The lease of a delivery that the caller attempts itself. */
type Lease = { claim_id: string; ends_ms: number }

/** An event for the webhooks that get it. */
export type FannedOut = { context: Context; delivery: NewDelivery; recipients: readonly Recipient[] }

// A transaction inserts at most this many deliveries: about 50 ms on SQLite, where others wait for its end.
const max_inserted = 2000

/**
 * Writes the deliveries of all events of a transaction. Above 2,000, it writes which webhooks get which events, and the
 * background inserts the deliveries. Never a part of them: an ordered webhook would get later events first.
 */
export async function writeDeliveries(tx: Tx, events: readonly FannedOut[]): Promise<void> {
  const count = events.reduce((sum, { recipients }) => sum + recipients.length, 0)
  if (count > max_inserted) return waitInFanout(tx, events)
  // Requests that share a transaction have times of their own.
  for (const [context, some] of Map.groupBy(events, ({ context }) => context))
    insertDeliveries(
      tx,
      context,
      some.flatMap(({ delivery, recipients }) =>
        recipients.map(({ webhook_id, format, ordered }) => ({ ...delivery, webhook_id, format, ordered })),
      ),
    )
}

const addDeliveries = prepareInsert('webhook_deliveries', {
  id: 'text!',
  workspace_id: 'bigint!',
  webhook_id: 'text!',
  event_id: 'text!',
  event: 'text!',
  status: 'text!',
  next_attempt_at: 'text',
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

const counted = ['webhook_id', 'event', 'status']

/** A delivery that is not yet in the log. */
export type Unlogged = { event_id: string; event: string } & Recipient

/** Adds deliveries of a workspace to the log and its totals; returns their ids. */
export function logDeliveries(
  tx: Tx,
  { workspace_id, now }: Pick<Context, 'workspace_id' | 'now'>,
  deliveries: readonly Unlogged[],
  status: 'pending' | 'cancelled',
): string[] {
  const logged = deliveries.map(({ event_id, event, webhook_id, format }) => ({
    id: newId('dlv'),
    workspace_id,
    webhook_id,
    event_id,
    event,
    status,
    next_attempt_at: status === 'pending' ? now : null,
    created_at: now,
    format,
  }))
  tx.rows(addDeliveries, logged)
  tx.rows(
    addCounts,
    logged.flatMap((row) => countChanges(workspace_id, 'deliveries', counted, null, row)),
  )
  return logged.map(({ id }) => id)
}

/** Adds a delivery that is due now to the log and the queue; returns its id. */
export function insertDelivery(
  tx: Tx,
  context: Context,
  delivery: NewDelivery & Recipient,
  lease?: Lease,
): string {
  const [id = ''] = insertDeliveries(tx, context, [delivery], lease)
  return id
}

// Runs three statements for any number of deliveries, and a fourth one for ordered webhooks.
function insertDeliveries(
  tx: Tx,
  context: Context,
  deliveries: readonly (NewDelivery & Recipient)[],
  lease?: Lease,
): string[] {
  tx.announce('deliveries')
  const { workspace_id } = context
  const elapsed_ms = context.elapsed()
  const ids = logDeliveries(tx, context, deliveries, 'pending')
  const queued = deliveries.map(({ webhook_id, kind, ordered, record_key = null }, index) => ({
    delivery_id: ids[index] as string,
    workspace_id,
    webhook_id,
    kind,
    tries: 0,
    run_at_ms: lease?.ends_ms ?? elapsed_ms,
    claim_id: lease?.claim_id ?? null,
    claimed_at_ms: lease ? elapsed_ms : null,
    record_key: ordered ? record_key : null,
  }))
  tx.rows(
    enqueue,
    queued.filter(({ record_key }) => record_key === null),
  )
  tx.rows(
    enqueueInOrder,
    queued.flatMap(({ record_key, ...row }) => (record_key === null ? [] : [{ ...row, record_key }])),
  )
  return ids
}
