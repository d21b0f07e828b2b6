import { type ExpressionBuilder, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { cutPage, type Page } from '../../db/lists/lists.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import { bodyFor } from '../../events/emit.ts'
import type { Delivery, DeliveryDetail } from '../registration/schema.ts'
import {
  countInSlices,
  type Filters,
  idsInSlices,
  matching,
  type Shown,
  type Sought,
  type Window,
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

// When the webhook was deleted, while some of its deliveries still wait to be cancelled.
const removedAt = (eb: ExpressionBuilder<Tables, 'webhook_deliveries'>) =>
  eb
    .selectFrom('webhook_removals as r')
    .select('r.removed_at')
    .whereRef('r.workspace_id', '=', 'webhook_deliveries.workspace_id')
    .whereRef('r.webhook_id', '=', 'webhook_deliveries.webhook_id')
    .as('removed_at')

// A delivery is cancelled with its webhook, whenever its own row follows.
function current<R extends Row>({ removed_at, ...delivery }: R): Omit<R, 'removed_at'> {
  if (delivery.status !== 'pending' || removed_at === null) return delivery
  return { ...delivery, status: 'cancelled', next_attempt_at: null, finished_at: removed_at }
}

// Read for the rows of a page alone, each by the attempts' own key.
const lastDuration = (eb: ExpressionBuilder<Tables, 'webhook_deliveries'>) =>
  eb
    .selectFrom('webhook_attempts as a')
    .select('a.duration_ms')
    .whereRef('a.workspace_id', '=', 'webhook_deliveries.workspace_id')
    .whereRef('a.delivery_id', '=', 'webhook_deliveries.id')
    .orderBy('a.number', 'desc')
    .limit(1)
    .as('last_duration_ms')

/**
 * One page of the log, newest first, and the number of all that match (null by cursor, which is an id); `from` and `to` are
 * inclusive times. `shown` are the events that the caller may see. With `details`, how long each one's newest attempt took.
 */
export async function listDeliveries(
  db: Db,
  workspace_id: number,
  filters: Filters,
  page: Page,
  shown: Shown,
  details = false,
): Promise<{ total: number | null; next: string[] | null; deliveries: Delivery[] }> {
  const { status, event } = filters
  if (shown && event !== undefined && !shown.includes(event))
    return { total: 'after' in page ? null : 0, next: null, deliveries: [] }
  const concerned = status === 'pending' || status === 'cancelled'
  const removed = concerned ? await removedWebhooks(db, workspace_id) : []
  // Of a name that is asked for, the caller may see all.
  const sought = { ...filters, shown: event === undefined ? shown : null, removed }
  const read = async (window: Window): Promise<Delivery[]> => {
    const { ids } = await idsOf(db, workspace_id, sought, window)
    const rows = await db
      .selectFrom('webhook_deliveries')
      .select(columns)
      .select(removedAt)
      .$if(details, (query) => query.select(lastDuration))
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', ids)
      .orderBy('id', 'desc')
      .execute()
    return rows.map(current)
  }
  if ('after' in page) {
    const [id] = page.after ?? []
    const window = { limit: page.per_page + 1, offset: 0, before: id === undefined ? null : String(id) }
    const part = cutPage(await read(window), page.per_page)
    return { total: null, next: part.last ? [part.last.id] : null, deliveries: part.shown }
  }
  const total = await countMatching(db, workspace_id, sought)
  const { per_page: limit, offset } = page
  const deliveries = offset < total ? await read({ limit, offset, before: null }) : []
  return { total, next: null, deliveries }
}

// SQLite skips so many entries of an index in about 2 ms.
const most_skipped = 20_000

const namedOf = ({ webhook_id, event, status }: Sought) =>
  Object.entries({ webhook_id, event, status }).filter(([, value]) => value !== undefined)

/** Whether the total is kept: of all, of one value, or of each event that the caller may see. */
function isTotalKept(sought: Sought): boolean {
  const named = namedOf(sought)
  const timeless = sought.from === undefined && sought.to === undefined
  return timeless && (named.length === 0 || (named.length === 1 && !sought.shown))
}

/** The ids of a page. In slices where SQLite would have to read much of the log for them, and nobody else was served. */
async function idsOf(db: Db, workspace_id: number, sought: Sought, window: Window) {
  const { limit, offset, before } = window
  const at_once = isTotalKept(sought) && !sought.removed.length && offset <= most_skipped
  if (engineOf(db) === 'sqlite' && !at_once)
    return { ids: await idsInSlices(db, workspace_id, sought, window) }
  const latest = (found: Sought) =>
    db
      .selectFrom('webhook_deliveries')
      .select('id')
      .where('workspace_id', '=', workspace_id)
      .where(matching(found))
      .$if(before !== null, (query) => query.where('id', '<', String(before)))
      .orderBy('id', 'desc')
  // The ids come from the filter's index; without statistics SQLite would read the whole log instead.
  if (!sought.shown || namedOf(sought).length || !isTotalKept(sought))
    return { ids: sql<string>`(${latest(sought).limit(limit).offset(offset)})` }
  // Without another filter, each name's own index gives its newest.
  const parts = sought.shown.map((event, n) => {
    const part = latest({ ...sought, event, shown: null }).limit(limit + offset)
    return sql`SELECT id FROM (${part}) AS ${sql.ref(`part_${n}`)}`
  })
  return {
    ids: sql<string>`(SELECT id FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts
      ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})`,
  }
}

async function countMatching(db: Db, workspace_id: number, sought: Sought): Promise<number> {
  if (isTotalKept(sought)) {
    const [first] = namedOf(sought)
    const kept = first
      ? [`deliveries.${first[0]}=${first[1]}`]
      : (sought.shown?.map((name) => `deliveries.event=${name}`) ?? ['deliveries'])
    const totals = await Promise.all(kept.map((name) => countOf(db, workspace_id, name)))
    return totals.reduce((sum, n) => sum + n, 0)
  }
  if (engineOf(db) === 'sqlite') return countInSlices(db, workspace_id, sought)
  const { n } = await db
    .selectFrom('webhook_deliveries')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspace_id)
    .where(matching(sought))
    .executeTakeFirstOrThrow()
  return Number(n)
}

async function removedWebhooks(db: Db, workspace_id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhook_removals')
    .select('webhook_id')
    .where('workspace_id', '=', workspace_id)
    .execute()
  return rows.map(({ webhook_id }) => webhook_id)
}

/** A delivery with its newest attempts, or null. The request's body is the event's stored text, never made anew. */
export async function findDelivery(db: Db, workspace_id: number, id: string): Promise<DeliveryDetail | null> {
  const delivery = await db
    .selectFrom('webhook_deliveries')
    .select(columns)
    .select(removedAt)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!delivery) return null
  const event = await db
    .selectFrom('events')
    .select('payload')
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', delivery.event_id)
    .executeTakeFirst()
  const rows = await newestAttempts(db, workspace_id, id)
  const body = event ? bodyFor(event.payload, delivery.webhook_id) : ''
  return { ...current(delivery), attempts: shownAttempts(rows, body) }
}
