import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import type { FanOut } from '../../db/fanouts.ts'
import { tryLockRow } from '../../db/locks.ts'
import { enqueueAt, placeOf } from '../../db/queue-order.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { logDeliveries } from '../../events/deliveries.ts'
import type { WorkSteps } from '../../work/run.ts'
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

/** Inserts deliveries that wait since a large transaction (db/fanouts.ts), up to 200 of one webhook in each piece of work. */
export const fanOutWork: WorkSteps<FanOut> = {
  kind: 'fan_out',
  async step(tx, { workspace_id, subject: webhook_id, position: { event_ids, format }, context }) {
    // The common order is the webhook first. Other webhooks do not wait for this one.
    if (!(await tryLockRow(tx, 'webhooks', workspace_id, webhook_id))) return 'busy'
    const events = await eventsOf(
      tx,
      event_ids.map((id) => ({ workspace_id, id })),
      {},
    )
    events.sort((a, b) => a.seq - b.seq)
    const when = { now: context.now, elapsed_ms: context.elapsed() }
    await insert(tx, { workspace_id, webhook_id }, events, { ...when, format })
    return 'done'
  },
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
