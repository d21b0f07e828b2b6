import { sql } from 'kysely'
import { isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/prepare.ts'
import type { AttemptOutcome } from './deliver.ts'
import { finishDelivery, insertAttempt, retryDelivery } from './deliveries.ts'
import { nextAttemptAt } from './schedule.ts'

/** A delivery that this process holds the lease of, with all that its attempt needs. */
export type Claim = {
  claim_id: string
  delivery_id: string
  workspace_id: number
  webhook_id: string
  kind: 'event' | 'resend' | 'ping'
  tries: number
  event: string
  payload: string
  url: string
  /** Encrypted, as stored. */
  secret: string
  next_secret: string | null
  next_secret_from_ms: number | null
}

export type QueueHead = { webhook_id: string; workspace_id: number; run_at_ms: number }

// Hops from webhook to webhook in the index: a backlog costs nothing for the others, however long it is.
const heads = sql<QueueHead>`
  WITH RECURSIVE hop (webhook_id) AS (
    SELECT min(webhook_id) FROM webhook_queue
    UNION ALL
    SELECT (SELECT min(q.webhook_id) FROM webhook_queue q WHERE q.webhook_id > hop.webhook_id)
    FROM hop WHERE hop.webhook_id IS NOT NULL
  )
  SELECT w.id AS webhook_id, w.workspace_id,
    (SELECT min(q.run_at_ms) FROM webhook_queue q WHERE q.webhook_id = w.id) AS run_at_ms
  FROM hop JOIN webhooks w ON w.id = hop.webhook_id WHERE w.status <> 'paused'`

/**
 * The webhooks that wait for an attempt and are not paused, at most `limit`, the one that is due first (or has been for
 * the longest time) first; `run_at_ms` is when that is.
 */
export async function queueHeads(db: Db, limit: number): Promise<QueueHead[]> {
  const { rows } = await sql<QueueHead>`${heads} ORDER BY 3 LIMIT ${limit}`.execute(db)
  return rows.map((row) => ({ ...row, run_at_ms: Number(row.run_at_ms) }))
}

type ClaimRequest = {
  webhook_id: string
  workspace_id: number
  limit: number
  now_ms: number
  lease_ms: number
  claim_id: string
  /** Deliveries that this process attempts right now, whatever their lease says. */
  held: ReadonlySet<string>
}

/**
 * Takes the lease of up to `limit` due deliveries of one webhook, oldest first. A claimed row becomes due again when
 * its lease ends, so a crashed owner needs no reaper; the attempt that it interrupted is noted when the next owner
 * comes, and uses up no try.
 */
export async function claimDue(tx: Db, request: ClaimRequest): Promise<Claim[]> {
  const { webhook_id, workspace_id, limit, now_ms, held } = request
  const due = await tx
    .selectFrom('webhook_queue')
    .select(['delivery_id', 'claim_id', 'claimed_at_ms'])
    .where('webhook_id', '=', webhook_id)
    .where('run_at_ms', '<=', now_ms)
    // Paused since the look at the queue: what is kept is not claimed.
    .where(({ selectFrom, exists }) =>
      exists(
        selectFrom('webhooks as w')
          .select('w.id')
          .where('w.workspace_id', '=', workspace_id)
          .where('w.id', '=', webhook_id)
          .where('w.status', '<>', 'paused'),
      ),
    )
    .orderBy('run_at_ms')
    .limit(limit + held.size)
    .execute()
  const free = due.filter((row) => !held.has(row.delivery_id)).slice(0, limit)
  for (const { delivery_id, claim_id, claimed_at_ms } of free)
    if (claim_id) await noteInterruption(tx, workspace_id, delivery_id, Number(claimed_at_ms), now_ms)
  const ids = free.map((row) => row.delivery_id)
  if (!ids.length) return []
  await tx
    .updateTable('webhook_queue')
    .set({ claim_id: request.claim_id, claimed_at_ms: now_ms, run_at_ms: now_ms + request.lease_ms })
    .where('workspace_id', '=', workspace_id)
    .where('delivery_id', 'in', ids)
    .execute()
  return claimed(tx, workspace_id, ids)
}

/** The claims of the given deliveries, which must be claimed already, oldest first. */
export async function claimed(tx: Db, workspace_id: number, delivery_ids: string[]): Promise<Claim[]> {
  const rows = await tx
    .selectFrom('webhook_queue as q')
    .innerJoin('webhook_deliveries as d', (join) =>
      join.onRef('d.workspace_id', '=', 'q.workspace_id').onRef('d.id', '=', 'q.delivery_id'),
    )
    .innerJoin('events as e', (join) =>
      join.onRef('e.workspace_id', '=', 'd.workspace_id').onRef('e.id', '=', 'd.event_id'),
    )
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.workspace_id', '=', 'q.workspace_id').onRef('w.id', '=', 'q.webhook_id'),
    )
    .select([
      'q.claim_id',
      'q.delivery_id',
      'q.workspace_id',
      'q.webhook_id',
      'q.kind',
      'q.tries',
      'd.event',
      'e.payload',
    ])
    .select(['w.url', 'w.secret', 'w.next_secret', 'w.next_secret_from_ms'])
    .where('q.workspace_id', '=', workspace_id)
    .where('q.delivery_id', 'in', delivery_ids)
    .orderBy('q.delivery_id')
    .execute()
  return rows as Claim[]
}

async function noteInterruption(
  tx: Db,
  workspace_id: number,
  delivery_id: string,
  started_ms: number,
  now_ms: number,
) {
  const last = await tx
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.workspace_id', '=', 'd.workspace_id').onRef('w.id', '=', 'd.webhook_id'),
    )
    .select('w.url')
    .where('d.workspace_id', '=', workspace_id)
    .where('d.id', '=', delivery_id)
    .executeTakeFirst()
  await insertAttempt(tx, workspace_id, delivery_id, {
    started_at: isoTime(started_ms),
    duration_ms: Math.max(0, now_ms - started_ms),
    request: { url: last?.url ?? '', headers: {} },
    response: null,
    error: {
      code: 'interrupted',
      message: 'The service ended, or could not write down how this attempt ended. It does not count.',
    },
  })
}

const dequeue = prepare((db, p: { workspace_id: number; delivery_id: string; claim_id: string }) =>
  db
    .deleteFrom('webhook_queue')
    .where('workspace_id', '=', p.workspace_id)
    .where('delivery_id', '=', p.delivery_id)
    .where('claim_id', '=', p.claim_id)
    .returning('delivery_id'),
)

/**
 * Writes down how an attempt ended and what follows, in one transaction: done, due again, or failed. Only the holder of
 * the lease may: a claim that is gone (a webhook deleted meanwhile, or a lease taken over) leaves an attempt in the log
 * of a cancelled delivery and nothing else.
 */
export async function record(
  tx: Db,
  claim: Claim,
  outcome: AttemptOutcome,
  { ended_ms, retry_delays }: { ended_ms: number; retry_delays: readonly number[] },
): Promise<void> {
  const { workspace_id, webhook_id, delivery_id, kind } = claim
  const attempt = { ...outcome, started_at: isoTime(outcome.started_at_ms) }
  const tries = claim.tries + 1
  const next_ms = outcome.ok || kind !== 'event' ? null : nextAttemptAt(retry_delays, tries, ended_ms)

  if (next_ms !== null) {
    const kept = await tx
      .updateTable('webhook_queue')
      .set({ run_at_ms: next_ms, tries, claim_id: null, claimed_at_ms: null })
      .where('workspace_id', '=', workspace_id)
      .where('delivery_id', '=', delivery_id)
      .where('claim_id', '=', claim.claim_id)
      .executeTakeFirst()
    if (!kept.numUpdatedRows) return logIfCancelled(tx, claim, attempt)
    await insertAttempt(tx, workspace_id, delivery_id, attempt)
    return retryDelivery(tx, workspace_id, delivery_id, isoTime(next_ms))
  }

  if (!(await dequeue(tx, claim)).length) return logIfCancelled(tx, claim, attempt)
  await insertAttempt(tx, workspace_id, delivery_id, attempt)
  await finishDelivery(tx, workspace_id, delivery_id, outcome.ok ? 'succeeded' : 'failed', isoTime(ended_ms))
  // A ping never changes the status, not even when it is sent again.
  if (claim.event === 'ping') return
  if (outcome.ok) await markWebhook(tx, workspace_id, webhook_id, 'failed', 'active', null)
  else if (kind === 'event') {
    const reason = `The delivery ${delivery_id} failed after ${tries} attempts: ${outcome.error?.message ?? 'no answer'}`
    await markWebhook(tx, workspace_id, webhook_id, 'active', 'failed', reason.slice(0, 1000))
  }
}

type LoggedAttempt = Parameters<typeof insertAttempt>[3]

async function logIfCancelled(
  tx: Db,
  { workspace_id, delivery_id }: Claim,
  attempt: LoggedAttempt,
): Promise<void> {
  const delivery = await tx
    .selectFrom('webhook_deliveries')
    .select(['status', 'attempt_count'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', delivery_id)
    .executeTakeFirst()
  if (delivery?.status !== 'cancelled') return
  await insertAttempt(tx, workspace_id, delivery_id, attempt)
  await tx
    .updateTable('webhook_deliveries')
    .set({ attempt_count: delivery.attempt_count + 1 })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', delivery_id)
    .execute()
}

// A paused webhook stays paused, whatever comes of attempts that were in flight.
const markWebhook = (
  tx: Db,
  workspace_id: number,
  id: string,
  from: 'active' | 'failed',
  to: 'active' | 'failed',
  status_reason: string | null,
) => mark(tx, { workspace_id, id, from, to, status_reason }).then(() => undefined)

type Mark = {
  workspace_id: number
  id: string
  from: string
  to: 'active' | 'failed'
  status_reason: string | null
}
const mark = prepare((db, p: Mark) =>
  db
    .updateTable('webhooks')
    .set({ status: p.to, status_reason: p.status_reason })
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id)
    .where('status', '=', p.from as Mark['to']),
)

/** Gives the lease of an attempt that never began back, so that the delivery is due at once. It counts as no attempt. */
export async function release(tx: Db, claim: Claim, now_ms: number): Promise<boolean> {
  const given = await tx
    .updateTable('webhook_queue')
    .set({ run_at_ms: now_ms, claim_id: null, claimed_at_ms: null })
    .where('workspace_id', '=', claim.workspace_id)
    .where('delivery_id', '=', claim.delivery_id)
    .where('claim_id', '=', claim.claim_id)
    .executeTakeFirst()
  return given.numUpdatedRows > 0n
}

/** Gives the lease of an attempt back that a stop cuts short; the log tells of it, and it does not count. */
export async function interrupt(tx: Db, claim: Claim, started_ms: number, now_ms: number): Promise<void> {
  if (await release(tx, claim, now_ms))
    await noteInterruption(tx, claim.workspace_id, claim.delivery_id, started_ms, now_ms)
}

/** Makes every leased delivery due at once: for the start of the only process on a database. */
export async function reclaimAll(tx: Db, now_ms: number): Promise<void> {
  await tx.updateTable('webhook_queue').set({ run_at_ms: now_ms }).where('claim_id', 'is not', null).execute()
}

/**
 * The queue's numbers for /metrics. What a paused webhook keeps is not due. The age is in seconds.
 */
export async function queueNumbers(db: Db, now_ms: number) {
  const { rows } = await sql<{ due: number; in_flight: number; oldest_ms: number | null; failed: number }>`
    SELECT
      (SELECT coalesce(sum((SELECT count(*) FROM webhook_queue q
        WHERE q.webhook_id = head.webhook_id AND q.run_at_ms <= ${now_ms})), 0)
        FROM (${heads}) AS head WHERE head.run_at_ms <= ${now_ms}) AS due,
      (SELECT count(*) FROM webhook_queue WHERE run_at_ms > ${now_ms} AND claim_id IS NOT NULL) AS in_flight,
      (SELECT min(run_at_ms) FROM (${heads}) AS head WHERE run_at_ms <= ${now_ms}) AS oldest_ms,
      (SELECT coalesce(sum((SELECT sum(c.n) FROM record_counts c
        WHERE c.workspace_id = w.id AND c.name = 'deliveries.status=failed')), 0) FROM workspaces w) AS failed`.execute(
    db,
  )
  const { due = 0, in_flight = 0, oldest_ms = null, failed = 0 } = rows[0] ?? {}
  return {
    due: Number(due),
    in_flight: Number(in_flight),
    failed: Number(failed),
    oldest_due_seconds: oldest_ms === null ? 0 : (now_ms - Number(oldest_ms)) / 1000,
  }
}
