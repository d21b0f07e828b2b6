import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import type { Delivery } from '../registration/schema.ts'

/** What is asked of the delivery log; `from` and `to` are inclusive times. */
export type Filters = {
  webhook_id?: string
  event?: string
  status?: Delivery['status']
  from?: string
  to?: string
}
/** The names of events whose deliveries a caller may see; null: all. */
export type Shown = readonly string[] | null
/** Also the deleted webhooks whose deliveries still wait to be cancelled: they are cancelled already. */
export type Sought = Filters & { shown: Shown; removed: readonly string[] }
/** A page: so many from an offset, or from below an id. */
export type Window = { limit: number; offset: number; before: string | null }

// So many rows of the log are looked at in about 5 ms.
const seen_at_once = 5000

/** What a row of the log must be. With a sign before it, a column leads SQLite to no index. */
export function matching(
  { webhook_id, event, status, from, to, shown, removed }: Sought,
  before: '' | '+' = '',
): RawBuilder<SqlBool> {
  const sign = sql.raw(before)
  const is = (column: string, sign_of: '=' | '>=' | '<=', value: string | undefined) =>
    value === undefined ? [] : [sql`${sign}${sql.ref(column)} ${sql.raw(sign_of)} ${value}`]
  const some = removed.length ? sql`(${sql.join(removed)})` : null
  const statusIs = () => {
    if (some && status === 'pending') return [sql`${sign}status = 'pending' AND webhook_id NOT IN ${some}`]
    if (some && status === 'cancelled')
      return [sql`(${sign}status = 'cancelled' OR (${sign}status = 'pending' AND webhook_id IN ${some}))`]
    return is('status', '=', status)
  }
  const all = [
    ...is('webhook_id', '=', webhook_id),
    ...is('event', '=', event),
    // Never by the index of the names: the order of the ids would be lost.
    ...(shown ? [sql`coalesce(event, NULL) IN (${sql.join(shown)})`] : []),
    ...statusIs(),
    ...is('created_at', '>=', from),
    ...is('created_at', '<=', to),
  ]
  return all.length ? sql<SqlBool>`${sql.join(all, sql` AND `)}` : sql<SqlBool>`TRUE`
}

function rangeById(
  workspace_id: number,
  { webhook_id, event, status, removed }: Sought,
  before: string | null = null,
): Range {
  const mine = sql<SqlBool>`workspace_id = ${workspace_id}`
  // Cancelled rows and rows to be cancelled are in two ranges of the index.
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

const rangeByTime = (workspace_id: number, { from, to }: Sought): Range => ({
  table: 'webhook_deliveries',
  along: sql`workspace_id = ${workspace_id}`,
  order: ['created_at', 'id'],
  descending: true,
  first: to === undefined ? undefined : sql`created_at <= ${to}`,
  last: from === undefined ? undefined : sql`created_at >= ${from}`,
})

/**
 * The ids of a page of the log, newest first, on SQLite where no index holds just what is asked for: it is read slice by
 * slice, so that nobody waits, however long it is. What changes meanwhile is seen as it was or as it is.
 */
export async function idsInSlices(
  db: Db,
  workspace_id: number,
  sought: Sought,
  { limit, offset, before }: Window,
): Promise<string[]> {
  const found: string[] = []
  let to_skip = offset
  for await (const { where } of slicesOf(db, rangeById(workspace_id, sought, before), seen_at_once)) {
    const { rows } = await sql<{ id: string }>`SELECT id FROM webhook_deliveries
      WHERE ${where} AND ${matching(sought, '+')} ORDER BY id DESC`.execute(db)
    const skipped = Math.min(to_skip, rows.length)
    to_skip -= skipped
    for (const { id } of rows.slice(skipped, skipped + limit - found.length)) found.push(id)
    if (found.length === limit) break
  }
  return found
}

/** How many deliveries match, counted in the same way. */
export async function countInSlices(db: Db, workspace_id: number, sought: Sought): Promise<number> {
  const by_time = sought.from !== undefined || sought.to !== undefined
  const range = by_time ? rangeByTime(workspace_id, sought) : rangeById(workspace_id, sought)
  let counted = 0
  for await (const { where } of slicesOf(db, range, seen_at_once)) {
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM webhook_deliveries
      WHERE ${where} AND ${matching(sought, '+')}`.execute(db)
    counted += rows[0]?.n ?? 0
  }
  return counted
}
