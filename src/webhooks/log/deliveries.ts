import { type ExpressionBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf, countRows } from '../../db/lists/counts.ts'
import { type Listed, type Page, readPage, type Window } from '../../db/lists/lists.ts'
import type { Tables } from '../../db/tables.ts'
import { engineOf } from '../../db/tx.ts'
import { bodyFor } from '../../events/emit.ts'
import type { ReadRights } from '../../http/scopes.ts'
import type { BuildBody } from '../delivery/bodies.ts'
import type { Delivery, DeliveryDetail } from '../registration/schema.ts'
import {
  countInSlices,
  idsInSlices,
  type LogFilters,
  type LogQuery,
  type LogWindow,
  matching,
  type VisibleEvents,
} from './log-slices.ts'
import { countAlong, idsAlong } from './log-sources.ts'
import { newestAttempts, shownAttempts } from './shown-attempts.ts'

const columns = [
  'id',
  'webhook_id',
  'event_id',
  'event',
  'status',
  'attempt_count',
  'next_attempt_at',
  'created_at',
  'finished_at',
] as const

type Row = Omit<Delivery, 'kind' | 'title'> & { removed_at: string | null }
/** A row of the log. The caller adds what its event tells about the record. */
export type LogRow = Omit<Delivery, 'kind' | 'title'>

// When the webhook was deleted; null after all its deliveries are cancelled.
const removedAt = (eb: ExpressionBuilder<Tables, 'webhook_deliveries'>) =>
  eb
    .selectFrom('work as r')
    .select('r.created_at')
    .whereRef('r.workspace_id', '=', 'webhook_deliveries.workspace_id')
    .where('r.kind', '=', 'webhook_removal')
    .whereRef('r.subject', '=', 'webhook_deliveries.webhook_id')
    .as('removed_at')

// Shows a delivery of a deleted webhook as cancelled, even if its row is updated later.
function current<R extends Row>({ removed_at, ...delivery }: R): Omit<R, 'removed_at'> {
  if (delivery.status !== 'pending' || removed_at === null) return delivery
  return { ...delivery, status: 'cancelled', next_attempt_at: null, finished_at: removed_at }
}

const recordId = (eb: ExpressionBuilder<Tables, 'webhook_deliveries'>) =>
  eb
    .selectFrom('events as e')
    .select('e.record_id')
    .whereRef('e.workspace_id', '=', 'webhook_deliveries.workspace_id')
    .whereRef('e.id', '=', 'webhook_deliveries.event_id')
    .as('record_id')

// Select these only for the rows of one page: each does a look-up by primary key for each row.
const newestAttempt = (eb: ExpressionBuilder<Tables, 'webhook_deliveries'>) =>
  eb
    .selectFrom('webhook_attempts as a')
    .whereRef('a.workspace_id', '=', 'webhook_deliveries.workspace_id')
    .whereRef('a.delivery_id', '=', 'webhook_deliveries.id')
    .orderBy('a.number', 'desc')
    .limit(1)

/**
 * One page of the log, newest first; its cursor is an id. `visible` lists the events that the caller may see. `details`
 * adds the duration, the status and the error of each delivery's newest attempt.
 */
export async function listDeliveries(
  db: Db,
  workspace_id: number,
  filters: LogFilters,
  page: Page,
  visible: VisibleEvents,
  details = false,
): Promise<Listed<LogRow>> {
  const { status, event } = filters
  const names = visible && event ? event.filter((name) => visible.includes(name)) : (event ?? visible)
  if (names?.length === 0 || status?.length === 0)
    return { total: 'after' in page ? null : 0, next: null, records: [] }
  const by_pending_status = status?.includes('pending') || status?.includes('cancelled')
  const removed = by_pending_status ? await removedWebhooks(db, workspace_id) : []
  const log_query = { ...filters, event: names ?? undefined, removed }
  const read = async ({ limit, offset, after }: Window): Promise<LogRow[]> => {
    const before = after && String(after[0])
    const { ids } = await idsOf(db, workspace_id, log_query, { limit, offset, before })
    if (Array.isArray(ids) && !ids.length) return []
    const rows = await db
      .selectFrom('webhook_deliveries')
      .select(columns)
      .select([recordId, removedAt])
      .$if(details, (query) =>
        query.select((eb) => [
          newestAttempt(eb).select('a.duration_ms').as('last_duration_ms'),
          newestAttempt(eb).select('a.response_status').as('last_response_status'),
          newestAttempt(eb).select('a.error_code').as('last_error_code'),
        ]),
      )
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', ids)
      .orderBy('id', 'desc')
      .execute()
    return rows.map(current)
  }
  return readPage(
    page,
    () => countMatching(db, workspace_id, log_query),
    read,
    ({ id }) => [id],
  )
}

// SQLite skips this many index entries in about 2 ms.
const max_skipped = 20_000

const namedOf = ({ webhook_id, event, status }: LogQuery) =>
  Object.entries({ webhook_id, event, status }).flatMap(([name, values]) =>
    values ? [{ name, values }] : [],
  )

/** Whether record_counts has the total: of all deliveries, or of each value of one filter. An index has these, too. */
function isTotalKept(log_query: LogQuery): boolean {
  const { from, to, event_id, record_id, status_code, other_webhooks = [] } = log_query
  const others = [from, to, event_id, record_id, status_code].some((filter) => filter !== undefined)
  return !others && !other_webhooks.length && namedOf(log_query).length <= 1
}

/** The query for each value of its one filter. */
function partsOf(log_query: LogQuery): LogQuery[] {
  const [filter] = namedOf(log_query)
  return filter ? filter.values.map((value) => ({ ...log_query, [filter.name]: [value] })) : [log_query]
}

/** The ids of a page. On SQLite, a long read is done in slices, because a statement blocks all other requests. */
async function idsOf(db: Db, workspace_id: number, log_query: LogQuery, window: LogWindow) {
  const { limit, offset, before } = window
  const along = await idsAlong(db, workspace_id, log_query, window)
  if (along) return { ids: along }
  const parts = isTotalKept(log_query) ? partsOf(log_query) : [log_query]
  const by_index = isTotalKept(log_query) && !log_query.removed.length && offset * parts.length <= max_skipped
  if (engineOf(db) === 'sqlite' && !by_index)
    return { ids: await idsInSlices(db, workspace_id, log_query, window) }
  const latest = (found: LogQuery) =>
    db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('workspace_id', '=', workspace_id)
      .where(matching(found))
      .$if(before !== null, (query) => query.where('id', '<', String(before)))
      .orderBy('id', 'desc')
  // Select the ids from the filter's index first. Without statistics, SQLite would otherwise read the whole log.
  const [first = log_query, ...others] = parts
  if (!others.length) return { ids: sql<string>`(${latest(first).limit(limit).offset(offset)})` }
  // Merge the newest ids of each value.
  const newest = parts.map((part, n) => {
    const ids = latest(part).limit(limit + offset)
    return sql`SELECT id FROM (${ids}) AS ${sql.ref(`part_${n}`)}`
  })
  return {
    ids: sql<string>`(SELECT id FROM (${sql.join(newest, sql` UNION ALL `)}) AS parts
      ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})`,
  }
}

async function countMatching(db: Db, workspace_id: number, log_query: LogQuery): Promise<number> {
  if (isTotalKept(log_query)) {
    const [filter] = namedOf(log_query)
    const kept = filter?.values.map((value) => `deliveries.${filter.name}=${value}`) ?? ['deliveries']
    const totals = await Promise.all(kept.map((name) => countOf(db, workspace_id, name)))
    return totals.reduce((sum, n) => sum + n, 0)
  }
  const along = await countAlong(db, workspace_id, log_query)
  if (along !== null) return along
  if (engineOf(db) === 'sqlite') return countInSlices(db, workspace_id, log_query)
  const all = db.selectFrom('webhook_deliveries').where('workspace_id', '=', workspace_id)
  return countRows(all.where(matching(log_query)))
}

async function removedWebhooks(db: Db, workspace_id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('work')
    .select('subject')
    .where((eb) => eb.and({ workspace_id, kind: 'webhook_removal' }))
    .execute()
  return rows.map(({ subject }) => subject)
}

/** A delivery. The caller adds the kind of its record. */
export type FoundDelivery = Omit<DeliveryDetail, 'kind'>

/** A delivery with the kind of its record. */
export const withKind = <R extends { event: string; record_id: number | null }>(
  { kindOfEvent }: Pick<ReadRights, 'kindOfEvent'>,
  delivery: R,
) => ({ ...delivery, kind: delivery.record_id === null ? null : kindOfEvent(delivery.event) })

/** A delivery with its newest attempts, or null. The request body is the stored payload, so it has the sent bytes. */
export async function findDelivery(
  db: Db,
  workspace_id: number,
  id: string,
  buildBody: BuildBody = bodyFor,
): Promise<FoundDelivery | null> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select(columns)
    .select(['format', recordId, removedAt])
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  if (!row) return null
  const { format, ...delivery } = row
  const event = await db
    .selectFrom('events')
    .select(['seq', 'payload'])
    .where((eb) => eb.and({ workspace_id, id: delivery.event_id }))
    .executeTakeFirst()
  const rows = await newestAttempts(db, workspace_id, id)
  const body = event ? buildBody(event, delivery.webhook_id, format) : ''
  return { ...current(delivery), attempts: shownAttempts(rows, body) }
}
