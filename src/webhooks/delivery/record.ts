import { sql } from 'kysely'
import { isoTime, type Moment, shownTime } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { addCounts } from '../../db/lists/counts.ts'
import { rowLock } from '../../db/locks.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { prepareRows, storable } from '../../db/statements/recordset.ts'
import { engineOf } from '../../db/tx.ts'
import { notifyOfFailure } from '../../events/notify.ts'
import { nextAttemptAt } from '../../work/schedule.ts'
import { insertAttempts } from './attempts.ts'
import { type Claim, isRetried } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'
import { type BlockingDelivery, findBlocking, releaseNext } from './in-order.ts'

/** An attempt that has ended. `interrupted`: it crashed the process too often; it is listed, but is not a try. */
export type Ended = { claim: Claim; outcome: AttemptOutcome; ended: Moment; interrupted?: true }

/** The next state of the delivery: done or failed (null), or due again at `next_ms`, in service time. */
type Result = Ended & { tries: number; next_ms: number | null }

/**
 * Writes the outcomes of attempts, and whether each delivery is done, due again or failed, in a few statements. Only
 * the holder of a lease may write. A lease is lost if the webhook was deleted, or if another process took it. Then this
 * function only adds the attempt to the log of a cancelled delivery. Returns the deliveries that are done and blocked the
 * next one of their record, which is now due.
 */
export async function record(
  tx: Tx,
  ended: readonly Ended[],
  /** The installation's, for webhooks without their own. */
  retry_delays: readonly number[],
): Promise<BlockingDelivery[]> {
  const results = ended.map((attempt): Result => {
    const tries = attempt.claim.tries + (attempt.interrupted ? 0 : 1)
    const own = attempt.claim.retry_delays
    const delays: readonly number[] = own === null ? retry_delays : JSON.parse(own)
    const again = !attempt.outcome.ok && isRetried(attempt.claim) && !attempt.interrupted
    return {
      ...attempt,
      tries,
      next_ms: again ? nextAttemptAt(delays, tries, attempt.ended.elapsed_ms) : null,
    }
  })
  // Lock webhooks, then the queue, then the log. A deletion uses the same order, so the two cannot deadlock.
  // Statements that do not depend on each other are sent together.
  const claims = results.map(({ claim }) => claim)
  const [, statuses, found, blocking] = await Promise.all([
    followIndexes(tx),
    changeable(tx, results),
    heldOf(tx, claims.toSorted(byId), {}),
    findBlocking(tx, claims),
  ])
  const held = new Set(found.map(({ claim_id, delivery_id }) => claim_id + delivery_id))
  const own = results.filter(({ claim }) => held.delete(claim.claim_id + claim.delivery_id))
  tx.defer(insertAttempts(tx, own.map(logged)))
  updateDeliveries(tx, own)
  updateQueue(tx, own)
  const done = new Set(own.flatMap(({ claim, next_ms }) => (next_ms === null ? [claim.delivery_id] : [])))
  const unblocking = blocking.filter(({ delivery_id }) => done.has(delivery_id))
  releaseNext(tx, unblocking, ended[0]?.ended.elapsed_ms ?? 0)
  markWebhooks(tx, statuses, own)
  tx.defer(addCounts(tx, own.flatMap(statusCounts)))
  for (const lost of results) if (!own.includes(lost) && !lost.interrupted) await logIfCancelled(tx, lost)
  return unblocking
}

const logged = ({ claim, outcome }: Ended) => ({
  ...outcome,
  workspace_id: claim.workspace_id,
  delivery_id: claim.delivery_id,
  started_at: isoTime(outcome.started_at_ms),
})

const claim_columns = { workspace_id: 'bigint!', delivery_id: 'text!', claim_id: 'text!' } as const

// The fence: select only rows that still have our claim_id. PostgreSQL locks them until the commit, in the order of the
// given rows. `IS NOT DISTINCT FROM` excludes the index of claimed rows. So PostgreSQL looks up each row by the primary
// key, also with old statistics of the queue.
const heldOf = prepareRows(claim_columns, ({ row, rows }, _, db) => {
  const is_held = sql`workspace_id = ${row.workspace_id} AND delivery_id = ${row.delivery_id}
    AND claim_id IS NOT DISTINCT FROM ${row.claim_id}`
  const held = sql`SELECT claim_id, delivery_id FROM webhook_queue WHERE ${is_held}`
  return engineOf(db) === 'postgres'
    ? sql<Held>`SELECT held.* FROM ${rows('first')} LATERAL (${held} FOR UPDATE) AS held`
    : sql<Held>`${held}`
})
type Held = { claim_id: string; delivery_id: string }

const byId = (a: Claim, b: Claim) => (a.delivery_id < b.delivery_id ? -1 : 1)

const delivery_columns = {
  workspace_id: 'bigint!',
  id: 'text!',
  status: 'text!',
  next_attempt_at: 'text',
  finished_at: 'text',
  counted: 'bigint!',
} as const
const setDeliveries = prepareRows(
  delivery_columns,
  ({
    row,
    rows,
  }) => sql`UPDATE webhook_deliveries AS d SET status = ${row.status}, attempt_count = d.attempt_count + ${row.counted},
        next_attempt_at = ${row.next_attempt_at}, finished_at = ${row.finished_at} ${rows('FROM')}
      WHERE d.workspace_id = ${row.workspace_id} AND d.id = ${row.id}`,
)

const statusOf = ({ outcome, next_ms }: Result) =>
  next_ms !== null ? 'pending' : outcome.ok ? 'succeeded' : 'failed'

function updateDeliveries(tx: Tx, own: readonly Result[]): void {
  const rows = own.map((result) => ({
    workspace_id: result.claim.workspace_id,
    id: result.claim.delivery_id,
    status: statusOf(result),
    next_attempt_at: result.next_ms === null ? null : shownTime(result.next_ms, result.ended),
    finished_at: result.next_ms === null ? isoTime(result.ended.now_ms) : null,
    counted: result.interrupted ? 0 : 1,
  }))
  tx.defer(setDeliveries(tx, rows, {}))
}

const row_columns = { workspace_id: 'bigint!', delivery_id: 'text!' } as const
const dequeue = prepareRows(
  row_columns,
  ({ row, rows }) => sql`DELETE FROM webhook_queue AS q ${rows('USING')}
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`,
)

const retry_columns = { ...row_columns, run_at_ms: 'bigint!', tries: 'bigint!' } as const
const requeue = prepareRows(
  retry_columns,
  ({ row, rows }) => sql`UPDATE webhook_queue AS q
      SET run_at_ms = ${row.run_at_ms}, tries = ${row.tries}, claim_id = NULL, claimed_at_ms = NULL,
        interruptions = 0 ${rows('FROM')}
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`,
)

function updateQueue(tx: Tx, own: readonly Result[]): void {
  const done = own.filter(({ next_ms }) => next_ms === null).map(({ claim }) => claim)
  const again = own.flatMap(({ claim: { workspace_id, delivery_id }, next_ms, tries }) =>
    next_ms === null ? [] : [{ workspace_id, delivery_id, run_at_ms: next_ms, tries }],
  )
  tx.defer(dequeue(tx, done, {}))
  tx.defer(requeue(tx, again, {}))
}

function statusCounts(result: Result) {
  const { workspace_id } = result.claim
  if (result.next_ms !== null) return []
  return [
    { workspace_id, name: 'deliveries.status=pending', by: -1 },
    { workspace_id, name: `deliveries.status=${statusOf(result)}`, by: 1 },
  ]
}

type Status = { status: string; reason: string | null }

// A ping never changes the webhook's status, not even when it is resent. Neither does an attempt that will be retried.
const recovers = ({ claim, outcome }: Result) => outcome.ok && !claim.is_test
const fails = ({ claim, outcome, next_ms }: Result) => !outcome.ok && next_ms === null && isRetried(claim)

const mark_columns = {
  workspace_id: 'bigint!',
  id: 'text!',
  recovers: 'bigint!',
  fails: 'bigint!',
  ordered: 'bigint!',
} as const
const statusesOf = prepareRows(
  mark_columns,
  ({ row, rows }, _, db) => sql<{ id: string; status: string; status_reason: string | null }>`
      SELECT w.id, w.status, w.status_reason FROM ${rows('first')} webhooks AS w
      WHERE w.workspace_id = ${row.workspace_id} AND w.id = ${row.id}
        AND ((w.status = 'failed' AND ${row.recovers} = 1) OR (w.status = 'active' AND ${row.fails} = 1)
          OR ${row.ordered} = 1)
      ${rowLock(db, 'ORDER BY w.id FOR NO KEY UPDATE OF w')}`,
)

/**
 * The webhooks whose status these results may change, with the current status. Locks their rows, and those of ordered
 * webhooks: a claim must not postpone a delivery that this transaction releases.
 */
async function changeable(tx: Tx, results: readonly Result[]): Promise<Map<string, Status>> {
  type Marked = { workspace_id: number; id: string; recovers: number; fails: number; ordered: number }
  const webhooks = new Map<string, Marked>()
  for (const result of results) {
    const { workspace_id, webhook_id: id, record_key } = result.claim
    const row = webhooks.get(id) ?? { workspace_id, id, recovers: 0, fails: 0, ordered: 0 }
    if (record_key !== null) row.ordered = 1
    if (recovers(result)) row.recovers = 1
    if (fails(result)) row.fails = 1
    if (row.recovers || row.fails || row.ordered) webhooks.set(id, row)
  }
  const rows = await statusesOf(tx, [...webhooks.values()], {})
  return new Map(rows.map(({ id, status, status_reason }) => [id, { status, reason: status_reason }]))
}

const mark = prepare((p: { workspace_id: number; id: string } & Status, db) =>
  db
    .updateTable('webhooks')
    .set({ status: p.status as 'active', status_reason: p.reason })
    .where((eb) => eb.and({ workspace_id: p.workspace_id, id: p.id })),
)

// Applies the outcomes of each webhook in order and writes the final status once. A paused webhook is not changeable: it
// stays paused, whatever its attempts in flight return.
function markWebhooks(tx: Tx, before: Map<string, Status>, own: readonly Result[]): void {
  for (const [id, old] of before) {
    const of_webhook = own.filter(({ claim }) => claim.webhook_id === id)
    let status = old
    for (const result of of_webhook) {
      const { claim, outcome, tries } = result
      if (recovers(result)) status = status.status === 'failed' ? { status: 'active', reason: null } : status
      else if (fails(result) && status.status === 'active') {
        const after = result.interrupted ? '' : ` after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}`
        const reason = `The delivery ${claim.delivery_id} failed${after}: ${outcome.error?.message ?? 'no answer'}`
        status = { status: 'failed', reason: storable(reason.slice(0, 1000)) }
      }
    }
    const [first] = of_webhook
    if (!first || status === old) continue
    const { workspace_id } = first.claim
    tx.defer(mark(tx, { workspace_id, id, ...status }))
    if (status.status === 'failed') notifyOfFailure(tx, { workspace_id, id }, isoTime(first.ended.now_ms))
  }
}

const countIfCancelled = prepare((p: { workspace_id: number; delivery_id: string }, db) =>
  db
    .updateTable('webhook_deliveries')
    .set((eb) => ({ attempt_count: eb('attempt_count', '+', 1) }))
    .where((eb) => eb.and({ workspace_id: p.workspace_id, id: p.delivery_id, status: 'cancelled' }))
    .returning('id'),
)

const payloadOf = prepare((p: { workspace_id: number; delivery_id: string }, db) =>
  db
    .selectFrom('webhook_deliveries as d')
    .innerJoin('events as e', (join) =>
      join.onRef('e.workspace_id', '=', 'd.workspace_id').onRef('e.id', '=', 'd.event_id'),
    )
    .select('e.payload')
    .where((eb) => eb.and({ 'd.workspace_id': p.workspace_id, 'd.id': p.delivery_id })),
)

async function logIfCancelled(tx: Tx, lost: Ended): Promise<void> {
  if (!(await countIfCancelled(tx, lost.claim)).length) return
  // An erasure overwrites the payload before it waits for this delivery's row. So either this read sees the erased
  // payload, or the erasure finds this attempt.
  const [event] = await payloadOf(tx, lost.claim)
  const erased = event && 'erased_at' in JSON.parse(event.payload)
  await insertAttempts(tx, [logged(erased ? { ...lost, outcome: withoutAnswer(lost.outcome) } : lost)])
}

// The answer may repeat the payload that was sent before the erasure.
const withoutAnswer = ({ response, error, ...outcome }: AttemptOutcome): AttemptOutcome => ({
  ...outcome,
  response: response && { status: response.status, headers: {}, body: '' },
  error: error && { ...error, message: 'The details were erased.' },
})
