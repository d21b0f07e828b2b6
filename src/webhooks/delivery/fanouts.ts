import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { enqueueAt, placeOf } from '../../db/queue-order.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { logDeliveries } from '../../events/deliveries.ts'
import { cancel } from '../registration/removal.ts'

/** The present: as ISO text, and in service time. */
type When = { now: string; elapsed_ms: number }
type Webhook = { workspace_id: number; webhook_id: string }
type Event = { id: string; event: string; record_id: number | null; seq: number }

const event_columns = { workspace_id: 'bigint!', id: 'text!' } as const
const eventsOf = prepareRows(
  event_columns,
  ({ row, rows }) => sql<Event>`SELECT e.id, e.event, e.record_id, e.seq FROM ${rows('first')} events AS e
      WHERE e.workspace_id = ${row.workspace_id} AND e.id = ${row.id}`,
)

type Waiting = Webhook & { first_id: string }

/** The oldest row of an ordered webhook, or else of any webhook: an ordered one gets nothing while a row of it waits. */
async function nextRow(tx: Tx): Promise<Waiting | undefined> {
  // The subquery reads one entry of the index for each ordered webhook. Many rows may wait.
  const { rows } = await sql<Waiting>`SELECT * FROM (
      SELECT w.workspace_id, w.id AS webhook_id, (
        SELECT f.first_id FROM webhook_fanouts AS f
        WHERE f.workspace_id = w.workspace_id AND f.webhook_id = w.id ORDER BY f.first_id LIMIT 1) AS first_id
      FROM webhooks AS w WHERE w.ordered = 1) AS ordered
    WHERE first_id IS NOT NULL ORDER BY first_id LIMIT 1`.execute(tx)
  if (rows[0]) return rows[0]
  return tx
    .selectFrom('webhook_fanouts')
    .select(['workspace_id', 'webhook_id', 'first_id'])
    .orderBy('first_id')
    .limit(1)
    .executeTakeFirst()
}

/**
 * Inserts deliveries that wait since a large transaction (db/fanouts.ts), up to 200 of one webhook. False when none is
 * left.
 */
export async function continueFanout(tx: Tx, when: When): Promise<boolean> {
  const next = await nextRow(tx)
  if (!next) return false
  const { workspace_id, webhook_id, first_id } = next
  // Lock the webhook first, the common order. Another process may have done this meanwhile, or deleted the webhook.
  await lockRow(tx, 'webhooks', workspace_id, webhook_id)
  const taken = await tx
    .deleteFrom('webhook_fanouts')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .where('first_id', '=', first_id)
    .returning(['event_ids', 'format'])
    .executeTakeFirst()
  if (!taken) return true
  const ids = JSON.parse(taken.event_ids) as string[]
  const events = await eventsOf(
    tx,
    ids.map((id) => ({ workspace_id, id })),
    {},
  )
  events.sort((a, b) => a.seq - b.seq)
  await insert(tx, next, events, { ...when, format: taken.format })
  return true
}

async function insert(
  tx: Tx,
  { workspace_id, webhook_id }: Webhook,
  events: readonly Event[],
  { now, elapsed_ms, format }: When & { format: string | null },
): Promise<void> {
  const webhook = await tx
    .selectFrom('webhooks')
    .select('ordered')
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', webhook_id)
    .executeTakeFirst()
  const deliveries = events.map(({ id, event }) => ({ event_id: id, event, webhook_id, format }))
  const logged = logDeliveries(tx, { workspace_id, now }, deliveries, webhook ? 'pending' : 'cancelled')
  if (!webhook) return cancelAll(tx, { workspace_id, webhook_id }, logged, now)
  tx.announce('deliveries')
  const rows = events.map((event, index) => ({
    delivery_id: logged[index] as string,
    workspace_id,
    webhook_id,
    kind: 'event',
    run_at_ms: elapsed_ms,
    tries: 0,
    ...placeOf(event, webhook.ordered),
  }))
  await enqueueAt(tx, rows)
}

/** Cancels deliveries of a webhook that was deleted before they were inserted. */
async function cancelAll(
  tx: Tx,
  { workspace_id, webhook_id }: Webhook,
  ids: readonly string[],
  now: string,
): Promise<void> {
  const removal = await tx
    .selectFrom('work')
    .select('created_at')
    .where((eb) => eb.and({ workspace_id, kind: 'webhook_removal', subject: webhook_id }))
    .executeTakeFirst()
  const rows = ids.map((delivery_id) => ({ workspace_id, delivery_id }))
  await cancel(tx, rows, { removed_at: removal?.created_at ?? now })
}
