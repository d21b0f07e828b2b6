import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import type { Delivery } from '../registration/schema.ts'

/** One of these values, or any if there are none, and none of those. */
type Values<T> = { any: readonly T[]; not: readonly T[] }

/** The filters of the delivery log: one of several values each. `from` and `to` are inclusive times. */
export type LogFilters = {
  webhook_id?: readonly string[] | undefined
  /** Not these webhooks. */
  other_webhooks?: readonly string[] | undefined
  event?: readonly string[] | undefined
  status?: readonly Delivery['status'][] | undefined
  event_id?: Values<string> | undefined
  /** The record of the event, of the kind of `event`. */
  record_id?: Values<number> | undefined
  /** The status of the newest attempt's answer. */
  status_code?: Values<number> | undefined
  from?: string | undefined
  to?: string | undefined
}
/** The names of events whose deliveries the caller may see; null for all. */
export type VisibleEvents = readonly string[] | null
/** `removed` lists deleted webhooks with rows that are still pending: these deliveries count as cancelled. */
export type LogQuery = LogFilters & { removed: readonly string[] }
/** A page: up to `limit` rows, after `offset` rows, and below the id `before` if there is one. */
export type LogWindow = { limit: number; offset: number; before: string | null }

// Reading this many rows of the log takes about 5 ms.
const slice_size = 5000

/** The condition on a row of the log. A `+` before each column keeps SQLite from using another index. */
export function matching(
  { webhook_id, other_webhooks, event, status, from, to, removed, ...more }: LogQuery,
  before: '' | '+' = '',
): RawBuilder<SqlBool> {
  const sign = sql.raw(before)
  const is = (column: string, sign_of: '=' | '>=' | '<=', value: string) =>
    sql`${sign}${sql.ref(column)} ${sql.raw(sign_of)} ${value}`
  const bound = (sign_of: '>=' | '<=', value: string | undefined) =>
    value === undefined ? [] : [is('created_at', sign_of, value)]
  // coalesce prevents the use of the column's index, which would lose the order of the ids.
  const among = (column: string, values: readonly string[]) =>
    sql`coalesce(${sql.ref(column)}, NULL) IN (${sql.join(values)})`
  const oneOf = (column: string, values: readonly string[] | undefined) => {
    if (!values) return []
    const [value = '', ...others] = values
    return [others.length ? among(column, values) : is(column, '=', value)]
  }
  const removed_ids = removed.length ? sql`(${sql.join(removed)})` : null
  const statusIs = (one: Delivery['status']) => {
    if (removed_ids && one === 'pending')
      return sql`(${sign}status = 'pending' AND webhook_id NOT IN ${removed_ids})`
    if (removed_ids && one === 'cancelled')
      return sql`(${sign}status = 'cancelled' OR (${sign}status = 'pending' AND webhook_id IN ${removed_ids}))`
    return is('status', '=', one)
  }
  const statuses = () =>
    status && removed_ids ? [sql`(${sql.join(status.map(statusIs), sql` OR `)})`] : oneOf('status', status)
  const all = [
    ...oneOf('webhook_id', webhook_id),
    ...(other_webhooks?.length ? [sql`NOT ${among('webhook_id', other_webhooks)}`] : []),
    ...oneOf('event', event),
    ...statuses(),
    ...bound('>=', from),
    ...bound('<=', to),
    ...having(more.event_id, sql`coalesce(event_id, '')`),
    ...having(more.record_id, record_of_event),
    ...having(more.status_code, newest_status),
  ]
  return all.length ? sql<SqlBool>`${sql.join(all, sql` AND `)}` : sql<SqlBool>`TRUE`
}

const record_of_event = sql`coalesce((SELECT e.record_id FROM events AS e
  WHERE e.workspace_id = webhook_deliveries.workspace_id AND e.id = webhook_deliveries.event_id), 0)`
const newest_status = sql`coalesce((SELECT a.response_status FROM webhook_attempts AS a
  WHERE a.workspace_id = webhook_deliveries.workspace_id AND a.delivery_id = webhook_deliveries.id
  ORDER BY a.number DESC LIMIT 1), 0)`

function having(values: Values<string | number> | undefined, of: RawBuilder<unknown>) {
  const { any = [], not = [] } = values ?? {}
  return [
    ...(any.length ? [sql`${of} IN (${sql.join(any)})`] : []),
    ...(not.length ? [sql`${of} NOT IN (${sql.join(not)})`] : []),
  ]
}

const only = <T>(values: readonly T[] | undefined): T | undefined =>
  values?.length === 1 ? values[0] : undefined

function rangeById(
  workspace_id: number,
  { webhook_id, event, status, removed }: LogQuery,
  before: string | null = null,
): Range {
  const mine = sql<SqlBool>`workspace_id = ${workspace_id}`
  const [webhook, name, state] = [only(webhook_id), only(event), only(status)]
  // Cancelled rows and pending rows of deleted webhooks are in two ranges of the index.
  const by_status = state !== undefined && !(state === 'cancelled' && removed.length)
  const along =
    webhook !== undefined
      ? sql<SqlBool>`${mine} AND webhook_id = ${webhook}`
      : name !== undefined
        ? sql<SqlBool>`${mine} AND event = ${name}`
        : by_status
          ? sql<SqlBool>`${mine} AND status = ${state}`
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
