import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { addCounts } from '../../db/lists/counts.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import { disableTimeouts, rowLock, tryLockRow } from '../../db/locks.ts'
import { enqueueAt, placeOf } from '../../db/queue-order.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { addWork, type NewWork, workOf } from '../../db/work.ts'
import type { Context } from '../../events/context.ts'
import type { WorkSteps } from '../../work/run.ts'
import type { VisibleEvents } from './log-slices.ts'

/** How many deliveries one transaction puts back into the queue. It takes a few milliseconds. */
const resend_batch = 200
// Reading this many log entries takes about 3 ms.
const slice_size = 10_000

/** The present, when resent deliveries are due: as ISO text, and in service time. */
type When = { now: string; elapsed_ms: number }
type Failed = { webhook_id: string; since: string | null; visible: VisibleEvents }

/**
 * Resends the failed deliveries of a webhook, each once; returns how many. Queues the first batch now. The others
 * are work for later transactions, and ids that wait already are not added again. The caller locks the webhook's row
 * against a concurrent resend or deletion.
 */
export async function resendFailed(tx: Tx, context: Context, failed: Failed): Promise<number> {
  await disableTimeouts(tx)
  const { webhook_id } = failed
  const { workspace_id } = context
  const waiting = await workOf<string[]>(tx, workspace_id, 'resend', webhook_id)
  const pending = new Set(waiting.flatMap(({ position }) => position))
  const ids = (await failedIds(tx, workspace_id, failed)).filter((id) => !pending.has(id))
  const when = { now: context.now, elapsed_ms: context.elapsed() }
  await resend(tx, workspace_id, when, ids.slice(0, resend_batch), ['failed'])
  const parts: NewWork[] = []
  for (let from = resend_batch; from < ids.length; from += resend_batch)
    parts.push({ kind: 'resend', subject: webhook_id, position: ids.slice(from, from + resend_batch) })
  addWork(tx, context, ...parts)
  return ids.length
}

/** The ids of a webhook's failed deliveries, oldest first. Reads the log in slices, so no statement takes long. */
async function failedIds(
  tx: Tx,
  workspace_id: number,
  { webhook_id, since, visible }: Failed,
): Promise<string[]> {
  const ids: string[] = []
  if (visible && !visible.length) return ids
  // Tests are not resent. The `+` keeps SQLite on the webhook's index.
  const plain = (column: string) => sql`${sql.raw(tx.engine === 'sqlite' ? '+' : '')}${sql.ref(column)}`
  const wanted = sql`${plain('status')} = 'failed' AND NOT EXISTS (
      SELECT 1 FROM events AS e WHERE e.workspace_id = ${workspace_id} AND e.id = event_id AND e.event = 'ping')
    ${since === null ? sql`` : sql`AND ${plain('created_at')} >= ${since}`}
    ${visible ? sql`AND ${plain('event')} IN (${sql.join(visible)})` : sql``}`
  const along = sql<SqlBool>`workspace_id = ${workspace_id} AND webhook_id = ${webhook_id}`
  const log: Range = { table: 'webhook_deliveries', along, order: ['id'] }
  for await (const { where } of slicesOf(tx, log, slice_size)) {
    const { rows } = await sql<{ id: string }>`SELECT id FROM webhook_deliveries
      WHERE ${where} AND ${wanted} ORDER BY id`.execute(tx)
    for (const { id } of rows) ids.push(id)
  }
  return ids
}

const id_columns = { workspace_id: 'bigint!', id: 'text!' } as const
type Finished = {
  id: string
  webhook_id: string
  status: string
  event: string
  record_id: number | null
  seq: number
  ordered: 0 | 1
}
const statusesOf = prepareRows(
  id_columns,
  ({ row, rows }, _, db) => sql<Finished>`
      SELECT d.id, d.webhook_id, d.status, d.event, e.record_id, e.seq, w.ordered
      FROM ${rows('first')} webhook_deliveries AS d
      JOIN events AS e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
      JOIN webhooks AS w ON w.workspace_id = d.workspace_id AND w.id = d.webhook_id
      WHERE d.workspace_id = ${row.workspace_id} AND d.id = ${row.id}
      ${rowLock(db, 'ORDER BY d.id FOR UPDATE OF d')}`,
)
const setPending = prepareRows(
  id_columns,
  (
    { row, rows },
    p: { now: string },
  ) => sql`UPDATE webhook_deliveries AS d SET status = 'pending', next_attempt_at = ${p.now}, finished_at = NULL ${rows('FROM')}
      WHERE d.workspace_id = ${row.workspace_id} AND d.id = ${row.id}`,
)

/**
 * Queues the deliveries that have one of the statuses, each for one attempt now; returns how many. The caller locks the
 * webhook's row.
 */
export async function resend(
  tx: Tx,
  workspace_id: number,
  { now, elapsed_ms }: When,
  ids: readonly string[],
  statuses: readonly string[],
): Promise<number> {
  tx.announce('deliveries')
  // PostgreSQL locks these rows: retention might remove them at the same time.
  const found = await statusesOf(
    tx,
    ids.map((id) => ({ workspace_id, id })),
    {},
  )
  const finished = found.filter(({ status }) => statuses.includes(status))
  const rows = finished.map(({ id, webhook_id, ordered, ...event }) => ({
    workspace_id,
    id,
    delivery_id: id,
    webhook_id,
    kind: 'resend',
    run_at_ms: elapsed_ms,
    tries: 0,
    ...placeOf(event, ordered),
  }))
  await enqueueAt(tx, rows)
  await setPending(tx, rows, { now })
  await addCounts(tx, [
    ...finished.map(({ status }) => ({ workspace_id, name: `deliveries.status=${status}`, by: -1 })),
    { workspace_id, name: 'deliveries.status=pending', by: finished.length },
  ])
  return finished.length
}

/** Queues the deliveries that a resend of many has left, up to 200 in each piece of work. */
export const resendWork: WorkSteps<string[]> = {
  kind: 'resend',
  async step(tx, { workspace_id, subject: webhook_id, position: ids, context }) {
    // The common order is the webhook first. A transaction that has it may wait for this work, so this one does not wait.
    if (!(await tryLockRow(tx, 'webhooks', workspace_id, webhook_id))) return 'busy'
    await resend(tx, workspace_id, { now: context.now, elapsed_ms: context.elapsed() }, ids, ['failed'])
    return 'done'
  },
}
