import type { Insertable } from 'kysely'
import { addCount, countOf } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'
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

/** One page of the log, newest first, and the number of all that match; `from` and `to` are inclusive times. */
export async function listDeliveries(
  db: Db,
  workspace_id: number,
  filters: Filters,
  { per_page, offset }: { per_page: number; offset: number },
): Promise<{ total: number; deliveries: Delivery[] }> {
  let matching = db.selectFrom('webhook_deliveries').where('workspace_id', '=', workspace_id)
  const { from, to, ...equal } = filters
  const named = Object.entries(equal).filter(([, value]) => value !== undefined)
  for (const [name, value] of named)
    matching = matching.where(name as keyof typeof equal, '=', value as string)
  if (from) matching = matching.where('created_at', '>=', from)
  if (to) matching = matching.where('created_at', '<=', to)
  const [first] = named
  const total =
    from || to || named.length > 1
      ? Number((await matching.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()).n)
      : await countOf(db, workspace_id, first ? `deliveries.${first[0]}=${first[1]}` : 'deliveries')
  if (offset >= total) return { total, deliveries: [] }
  // The ids come from the filter's index; without statistics SQLite would read the whole log instead.
  const deliveries = await db
    .selectFrom('webhook_deliveries')
    .select(columns)
    .where('workspace_id', '=', workspace_id)
    .where('id', 'in', matching.select('id').orderBy('id', 'desc').limit(per_page).offset(offset))
    .orderBy('id', 'desc')
    .execute()
  return { total, deliveries }
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

type NewAttempt = Omit<Attempt, 'number' | 'request'> & {
  request: { url: string; headers: Record<string, string> }
}

const lastNumber = prepare((db, p: { workspace_id: number; delivery_id: string }) =>
  db
    .selectFrom('webhook_attempts')
    .select((eb) => eb.fn.max('number').as('number'))
    .where('workspace_id', '=', p.workspace_id)
    .where('delivery_id', '=', p.delivery_id),
)

/** Adds an attempt to a delivery's log, numbered on. */
export async function insertAttempt(
  tx: Db,
  workspace_id: number,
  delivery_id: string,
  attempt: NewAttempt,
): Promise<void> {
  const [last] = await lastNumber(tx, { workspace_id, delivery_id })
  const { started_at, request, response, error } = attempt
  await addAttempt(tx, {
    workspace_id,
    delivery_id,
    number: (last?.number ?? 0) + 1,
    started_at,
    duration_ms: Math.round(attempt.duration_ms),
    request_url: request.url,
    request_headers: JSON.stringify(request.headers),
    response_status: response?.status ?? null,
    response_headers: response && JSON.stringify(response.headers),
    response_body: response?.body ?? null,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
  })
}

type AttemptRow = Insertable<Tables['webhook_attempts']>
const addAttempt = prepare((db, p: AttemptRow) =>
  db.insertInto('webhook_attempts').values({
    workspace_id: p.workspace_id,
    delivery_id: p.delivery_id,
    number: p.number,
    started_at: p.started_at,
    duration_ms: p.duration_ms,
    request_url: p.request_url,
    request_headers: p.request_headers,
    response_status: p.response_status,
    response_headers: p.response_headers,
    response_body: p.response_body,
    error_code: p.error_code,
    error_message: p.error_message,
  }),
)

const finish = prepare(
  (db, p: { workspace_id: number; id: string; status: Delivery['status']; now: string }) =>
    db
      .updateTable('webhook_deliveries')
      .set((eb) => ({
        status: p.status,
        attempt_count: eb('attempt_count', '+', 1),
        next_attempt_at: null,
        finished_at: p.now,
      }))
      .where('workspace_id', '=', p.workspace_id)
      .where('id', '=', p.id),
)

/** Ends a pending delivery after a counted attempt. */
export async function finishDelivery(
  tx: Db,
  workspace_id: number,
  id: string,
  status: 'succeeded' | 'failed',
  now: string,
): Promise<void> {
  await finish(tx, { workspace_id, id, status, now })
  await moveStatus(tx, workspace_id, 'pending', status, 1)
}

/** Notes a counted attempt that is tried again at the given time. */
export async function retryDelivery(
  tx: Db,
  workspace_id: number,
  id: string,
  next_attempt_at: string,
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set((eb) => ({ attempt_count: eb('attempt_count', '+', 1), next_attempt_at }))
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute()
}

/** Finished deliveries that can be put into the queue again: one by its id, or the failed ones of a webhook. */
type Resendable = { id: string } | { webhook_id: string; status: 'failed'; since: string | null }

/** Puts finished deliveries into the queue again, each for one attempt at once; returns how many. */
export async function resend(
  tx: Db,
  workspace_id: number,
  now: string,
  now_ms: number,
  which: Resendable,
): Promise<number> {
  const chosen = tx
    .selectFrom('webhook_deliveries')
    .where('workspace_id', '=', workspace_id)
    .where((eb) =>
      'id' in which
        ? eb('id', '=', which.id)
        : eb.and([
            eb('webhook_id', '=', which.webhook_id),
            eb('status', '=', which.status),
            eb('created_at', '>=', which.since ?? ''),
            // Whoever tested a dead address wants no more of the test.
            eb('event', '<>', 'ping'),
          ]),
    )
  // A whole outage may be sent again at once: a few statements for all of it, however many they are.
  const before = await chosen
    .select(['status', (eb) => eb.fn.countAll<number>().as('n')])
    .groupBy('status')
    .execute()
  await tx
    .insertInto('webhook_queue')
    .columns(['delivery_id', 'workspace_id', 'webhook_id', 'kind', 'run_at_ms', 'tries'])
    .expression(
      chosen.select((eb) => [
        'id',
        'workspace_id',
        'webhook_id',
        eb.val('resend').as('kind'),
        eb.cast<number>(eb.val(now_ms), 'bigint').as('run_at_ms'),
        eb.lit(0).as('tries'),
      ]),
    )
    .execute()
  await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', next_attempt_at: now, finished_at: null })
    .where('workspace_id', '=', workspace_id)
    .where('id', 'in', chosen.select('id'))
    .execute()
  for (const { status, n } of before) await moveStatus(tx, workspace_id, status, 'pending', Number(n))
  return before.reduce((sum, { n }) => sum + Number(n), 0)
}

async function moveStatus(
  tx: Db,
  workspace_id: number,
  from: Delivery['status'],
  to: Delivery['status'],
  by: number,
) {
  await addCount(tx, { workspace_id, name: `deliveries.status=${from}`, by: -by })
  await addCount(tx, { workspace_id, name: `deliveries.status=${to}`, by })
}
