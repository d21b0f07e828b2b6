import { type ExpressionBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf, countRows } from '../../db/lists/counts.ts'
import { type Listed, type Page, readPage, type Window } from '../../db/lists/lists.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import { bodyFor } from '../../events/emit.ts'
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

type Row = Delivery & { removed_at: string | null }

// When the webhook was deleted; null after all its deliveries are cancelled.
const removedAt = (eb: ExpressionBuilder<Tables, 'webhook_deliveries'>) =>
  eb
    .selectFrom('webhook_removals as r')
    .select('r.removed_at')
    .whereRef('r.workspace_id', '=', 'webhook_deliveries.workspace_id')
    .whereRef('r.webhook_id', '=', 'webhook_deliveries.webhook_id')
    .as('removed_at')

// Shows a delivery of a deleted webhook as cancelled, even if its row is updated later.
function current<R extends Row>({ removed_at, ...delivery }: R): Omit<R, 'removed_at'> {
  if (delivery.status !== 'pending' || removed_at === null) return delivery
  return { ...delivery, status: 'cancelled', next_attempt_at: null, finished_at: removed_at }
}

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
): Promise<Listed<Delivery>> {
  const { status, event } = filters
  if (visible && event !== undefined && !visible.includes(event))
    return { total: 'after' in page ? null : 0, next: null, records: [] }
  const by_pending_status = status === 'pending' || status === 'cancelled'
  const removed = by_pending_status ? await removedWebhooks(db, workspace_id) : []
  // The check above allows the named event, so no further limit is needed.
  const log_query = { ...filters, visible: event === undefined ? visible : null, removed }
  const read = async ({ limit, offset, after }: Window): Promise<Delivery[]> => {
    const before = after && String(after[0])
    const { ids } = await idsOf(db, workspace_id, log_query, { limit, offset, before })
    const rows = await db
      .selectFrom('webhook_deliveries')
      .select(columns)
      .select(removedAt)
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
  Object.entries({ webhook_id, event, status }).filter(([, value]) => value !== undefined)

/** Whether record_counts has the total: of all deliveries, of one value, or of each visible event. */
function isTotalKept(log_query: LogQuery): boolean {
  const named = namedOf(log_query)
  const timeless = log_query.from === undefined && log_query.to === undefined
  return timeless && (named.length === 0 || (named.length === 1 && !log_query.visible))
}

/** The ids of a page. On SQLite, a long read is done in slices, because a statement blocks all other requests. */
async function idsOf(db: Db, workspace_id: number, log_query: LogQuery, window: LogWindow) {
  const { limit, offset, before } = window
  const by_one_index = isTotalKept(log_query) && !log_query.removed.length && offset <= max_skipped
  if (engineOf(db) === 'sqlite' && !by_one_index)
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
  if (!log_query.visible || namedOf(log_query).length || !isTotalKept(log_query))
    return { ids: sql<string>`(${latest(log_query).limit(limit).offset(offset)})` }
  // Without another filter, merge the newest ids of each event name.
  const parts = log_query.visible.map((event, n) => {
    const part = latest({ ...log_query, event, visible: null }).limit(limit + offset)
    return sql`SELECT id FROM (${part}) AS ${sql.ref(`part_${n}`)}`
  })
  return {
    ids: sql<string>`(SELECT id FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts
      ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})`,
  }
}

async function countMatching(db: Db, workspace_id: number, log_query: LogQuery): Promise<number> {
  if (isTotalKept(log_query)) {
    const [first] = namedOf(log_query)
    const kept = first
      ? [`deliveries.${first[0]}=${first[1]}`]
      : (log_query.visible?.map((name) => `deliveries.event=${name}`) ?? ['deliveries'])
    const totals = await Promise.all(kept.map((name) => countOf(db, workspace_id, name)))
    return totals.reduce((sum, n) => sum + n, 0)
  }
  if (engineOf(db) === 'sqlite') return countInSlices(db, workspace_id, log_query)
  const all = db.selectFrom('webhook_deliveries').where('workspace_id', '=', workspace_id)
  return countRows(all.where(matching(log_query)))
}

async function removedWebhooks(db: Db, workspace_id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_removals')
    .select('webhook_id')
    .where('workspace_id', '=', workspace_id)
    .execute()
  return rows.map(({ webhook_id }) => webhook_id)
}

/** A delivery with its newest attempts, or null. The request body is the stored payload, so it has the sent bytes. */
export async function findDelivery(
  db: Db,
  workspace_id: number,
  id: string,
  buildBody: BuildBody = bodyFor,
): Promise<DeliveryDetail | null> {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select(columns)
    .select(['format', removedAt])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  const { format, ...delivery } = row
  const event = await db
    .selectFrom('events')
    .select(['seq', 'payload'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', delivery.event_id)
    .executeTakeFirst()
  const rows = await newestAttempts(db, workspace_id, id)
  const body = event ? buildBody(event, delivery.webhook_id, format) : ''
  return { ...current(delivery), attempts: shownAttempts(rows, body) }
}
