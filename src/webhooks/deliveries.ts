import { type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { addCounts, countOf } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { cutPage, type Page } from '../db/lists.ts'
import { allowLong } from '../db/locks.ts'
import { announce, engineOf } from '../db/prepare.ts'
import type { Tables } from '../db/tables.ts'
import { bodyFor } from '../events/emit.ts'
import type { Attempt, Delivery, DeliveryDetail } from './schema.ts'

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

type Filters = {
  webhook_id?: string
  event?: string
  status?: Delivery['status']
  from?: string
  to?: string
}

/** The names of events whose deliveries a caller may see; null: all. */
export type Shown = readonly string[] | null

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
  if (shown && filters.event !== undefined && !shown.includes(filters.event))
    return { total: 'after' in page ? null : 0, next: null, deliveries: [] }
  let matching = db.selectFrom('webhook_deliveries').where('workspace_id', '=', workspace_id)
  const { from, to, ...equal } = filters
  const named = Object.entries(equal).filter(([, value]) => value !== undefined)
  for (const [name, value] of named)
    matching = matching.where(name as keyof typeof equal, '=', value as string)
  if (from) matching = matching.where('created_at', '>=', from)
  if (to) matching = matching.where('created_at', '<=', to)
  // Of a name that is asked for, the caller may see all.
  const names = filters.event === undefined ? shown : null
  const alone = !named.length && !from && !to
  // Without another filter, each name's own index gives its newest.
  if (names && !alone) matching = matching.where(sql<string>`coalesce(event, null)`, 'in', names)
  const read = async (ids: typeof matching, limit: number, offset: number) =>
    db
      .selectFrom('webhook_deliveries')
      .select(columns)
      .$if(details, (query) => query.select(lastDuration))
      .where('workspace_id', '=', workspace_id)
      // The ids come from the filter's index; without statistics SQLite would read the whole log instead.
      .where('id', 'in', newest(ids, alone ? names : null, limit, offset))
      .orderBy('id', 'desc')
      .execute()
  if ('after' in page) {
    const [id] = page.after ?? []
    const rest = id === undefined ? matching : matching.where('id', '<', String(id))
    const part = cutPage(await read(rest, page.per_page + 1, 0), page.per_page)
    return { total: null, next: part.last ? [part.last.id] : null, deliveries: part.shown }
  }
  const [first] = named
  const kept = first
    ? [`deliveries.${first[0]}=${first[1]}`]
    : (names?.map((name) => `deliveries.event=${name}`) ?? ['deliveries'])
  const counted = from || to || named.length > 1 || (names && !alone)
  const total = counted
    ? (await matching.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()).n
    : (await Promise.all(kept.map((name) => countOf(db, workspace_id, name)))).reduce((sum, n) => sum + n, 0)
  const { per_page, offset } = page
  const deliveries = offset < total ? await read(matching, per_page, offset) : []
  return { total, next: null, deliveries }
}

type Matching = SelectQueryBuilder<Tables, 'webhook_deliveries', object>

/** The newest ids that match; with `names`, of each name by its index, and then of all of them. */
function newest(matching: Matching, names: Shown, limit: number, offset: number): RawBuilder<string> {
  const latest = (query: Matching) => query.select('id').orderBy('id', 'desc')
  if (!names) return sql`(${latest(matching).limit(limit).offset(offset)})`
  const parts = names.map((name, n) => {
    const part = latest(matching.where('event', '=', name)).limit(limit + offset)
    return sql`SELECT id FROM (${part}) AS ${sql.ref(`part_${n}`)}`
  })
  return sql`(SELECT id FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts ORDER BY id DESC LIMIT ${limit} OFFSET ${offset})`
}

/** A delivery with every attempt, or null. The request's body is the event's stored text, never made anew. */
export async function findDelivery(db: Db, workspace_id: number, id: string): Promise<DeliveryDetail | null> {
  const delivery = await db
    .selectFrom('webhook_deliveries')
    .select(columns)
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
  const rows = await db
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('delivery_id', '=', id)
    .orderBy('number')
    .execute()
  const body = event ? bodyFor(event.payload, delivery.webhook_id) : ''
  const attempts = rows.map((row): Attempt => {
    const headers = JSON.parse(row.request_headers)
    const { response_status: status, error_code } = row
    const response =
      status === null
        ? null
        : { status, headers: JSON.parse(row.response_headers ?? '{}'), body: row.response_body ?? '' }
    const error = error_code === null ? null : { code: error_code, message: row.error_message ?? '' }
    const { number, started_at, duration_ms } = row
    return {
      number,
      started_at,
      duration_ms,
      request: { url: row.request_url, headers, body },
      response,
      error,
    }
  })
  return { ...delivery, attempts }
}

/** Finished deliveries that can be put into the queue again: one by its id, or the failed ones of a webhook. */
type Resendable =
  | { id: string }
  | { webhook_id: string; status: 'failed'; since: string | null; shown: Shown }

/**
 * Puts finished deliveries into the queue again, each for one attempt at once; returns how many. The caller keeps the
 * webhook's row, so that no two resends, nor a resend and the deletion of the webhook, come together.
 */
export async function resend(
  tx: Db,
  workspace_id: number,
  now: string,
  elapsed_ms: number,
  which: Resendable,
): Promise<number> {
  announce(tx, 'deliveries')
  await allowLong(tx)
  const chosen = tx
    .selectFrom('webhook_deliveries')
    .where('workspace_id', '=', workspace_id)
    .where((eb) =>
      'id' in which
        ? eb('id', '=', which.id)
        : eb.and([
            eb('webhook_id', '=', which.webhook_id),
            eb('status', '=', which.status),
            // Not always: for its sake SQLite would read the log by its times instead of by its webhooks.
            ...(which.since === null ? [] : [eb('created_at', '>=', which.since)]),
            // Whoever tested a dead address wants no more of the test.
            eb('event', '<>', 'ping'),
            ...(which.shown ? [eb('event', 'in', which.shown)] : []),
          ]),
    )
  // A whole outage may be sent again at once: a few statements for all of it, however many they are.
  const old_status = 'id' in which ? (await chosen.select('status').executeTakeFirst())?.status : which.status
  if (!old_status) return 0
  const rows = chosen.select((eb) => [
    'id',
    'workspace_id',
    'webhook_id',
    eb.cast<'resend'>(eb.val('resend'), 'text').as('kind'),
    eb.cast<number>(eb.val(elapsed_ms), 'bigint').as('run_at_ms'),
    eb.lit(0).as('tries'),
  ])
  // Kept, because the cleaning of the log might take them meanwhile.
  const kept = engineOf(tx) === 'postgres' ? rows.forUpdate() : rows
  await tx
    .insertInto('webhook_queue')
    .columns(['delivery_id', 'workspace_id', 'webhook_id', 'kind', 'run_at_ms', 'tries'])
    .expression(kept)
    .execute()
  // Those in the queue and no others: another delivery may have failed since.
  const moved = await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', next_attempt_at: now, finished_at: null })
    .where('workspace_id', '=', workspace_id)
    .where('id', 'in', chosen.select('id'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_queue as q')
          .select('q.delivery_id')
          .whereRef('q.workspace_id', '=', 'webhook_deliveries.workspace_id')
          .whereRef('q.delivery_id', '=', 'webhook_deliveries.id'),
      ),
    )
    .executeTakeFirst()
  const count = Number(moved.numUpdatedRows)
  await addCounts(tx, [
    { workspace_id, name: `deliveries.status=${old_status}`, by: -count },
    { workspace_id, name: 'deliveries.status=pending', by: count },
  ])
  return count
}
