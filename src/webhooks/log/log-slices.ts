import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import type { Delivery } from '../registration/schema.ts'

/** The filters of the delivery log. `from` and `to` are inclusive times. */
export type LogFilters = {
  webhook_id?: string
  event?: string
  status?: Delivery['status']
  from?: string
  to?: string
}
/** The names of events whose deliveries the caller may see; null for all. */
export type VisibleEvents = readonly string[] | null
/** `removed` lists deleted webhooks with rows that are still pending: these deliveries count as cancelled. */
export type LogQuery = LogFilters & { visible: VisibleEvents; removed: readonly string[] }
/** A page: up to `limit` rows, after `offset` rows, and below the id `before` if there is one. */
export type LogWindow = { limit: number; offset: number; before: string | null }

// Reading this many rows of the log takes about 5 ms.
const slice_size = 5000

/** The condition on a row of the log. A `+` before each column keeps SQLite from using another index. */
export function matching(
  { webhook_id, event, status, from, to, visible, removed }: LogQuery,
  before: '' | '+' = '',
): RawBuilder<SqlBool> {
  const sign = sql.raw(before)
  const is = (column: string, sign_of: '=' | '>=' | '<=', value: string | undefined) =>
    value === undefined ? [] : [sql`${sign}${sql.ref(column)} ${sql.raw(sign_of)} ${value}`]
  const removed_ids = removed.length ? sql`(${sql.join(removed)})` : null
  const statusIs = () => {
    if (removed_ids && status === 'pending')
      return [sql`${sign}status = 'pending' AND webhook_id NOT IN ${removed_ids}`]
    if (removed_ids && status === 'cancelled')
      return [
        sql`(${sign}status = 'cancelled' OR (${sign}status = 'pending' AND webhook_id IN ${removed_ids}))`,
      ]
    return is('status', '=', status)
  }
  const all = [
    ...is('webhook_id', '=', webhook_id),
    ...is('event', '=', event),
    // coalesce prevents the use of the index by event, which would lose the order of the ids.
    ...(visible ? [sql`coalesce(event, NULL) IN (${sql.join(visible)})`] : []),
    ...statusIs(),
    ...is('created_at', '>=', from),
    ...is('created_at', '<=', to),
  ]
  return all.length ? sql<SqlBool>`${sql.join(all, sql` AND `)}` : sql<SqlBool>`TRUE`
}

function rangeById(
  workspace_id: number,
  { webhook_id, event, status, removed }: LogQuery,
  before: string | null = null,
): Range {
  const mine = sql<SqlBool>`workspace_id = ${workspace_id}`
  // Cancelled rows and pending rows of deleted webhooks are in two ranges of the index.
  const by_status = status !== undefined && !(status === 'cancelled' && removed.length)
  const along =
    webhook_id !== undefined
      ? sql<SqlBool>`${mine} AND webhook_id = ${webhook_id}`
      : event !== undefined
        ? sql<SqlBool>`${mine} AND event = ${event}`
        : by_status
          ? sql<SqlBool>`${mine} AND status = ${status}`
          : mine
  const first = before === null ? undefined : sql<SqlBool>`id < ${before}`
  return { table: 'webhook_deliveries', along, order: ['id'], descending: true, first }
}

const rangeByTime = (workspace_id: number, { from, to }: LogQuery): Range => ({
  table: 'webhook_deliveries',
  along: sql`workspace_id = ${workspace_id}`,
  order: ['created_at', 'id'],
  descending: true,
  first: to === undefined ? undefined : sql`created_at <= ${to}`,
  last: from === undefined ? undefined : sql`created_at >= ${from}`,
})

/**
 * The ids of a page of the log, newest first, for SQLite when no index matches the filters. It reads the log in slices,
 * so other requests can run in between. A concurrent change may or may not be in the result.
 */
export async function idsInSlices(
  db: Db,
  workspace_id: number,
  log_query: LogQuery,
  { limit, offset, before }: LogWindow,
): Promise<string[]> {
  const found: string[] = []
  let to_skip = offset
  for await (const { where } of slicesOf(db, rangeById(workspace_id, log_query, before), slice_size)) {
    const { rows } = await sql<{ id: string }>`SELECT id FROM webhook_deliveries
      WHERE ${where} AND ${matching(log_query, '+')} ORDER BY id DESC`.execute(db)
    const skipped = Math.min(to_skip, rows.length)
    to_skip -= skipped
    for (const { id } of rows.slice(skipped, skipped + limit - found.length)) found.push(id)
    if (found.length === limit) break
  }
  return found
}

/** Counts the matching deliveries in slices. */
export async function countInSlices(db: Db, workspace_id: number, log_query: LogQuery): Promise<number> {
  const by_time = log_query.from !== undefined || log_query.to !== undefined
  const range = by_time ? rangeByTime(workspace_id, log_query) : rangeById(workspace_id, log_query)
  let counted = 0
  for await (const { where } of slicesOf(db, range, slice_size)) {
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM webhook_deliveries
      WHERE ${where} AND ${matching(log_query, '+')}`.execute(db)
    counted += rows[0]?.n ?? 0
  }
  return counted
}
