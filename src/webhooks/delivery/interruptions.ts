import { sql } from 'kysely'
import type { Moment } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { engineOf, prepare } from '../../db/statements/prepare.ts'
import { insertAttempts, interruptedAttempt } from './attempts.ts'
import {
  type Claim,
  claimsOf,
  type Due,
  fitting,
  type Lease,
  type Loaded,
  payloadBytes,
  take,
} from './claim.ts'
import type { Ended } from './record.ts'

/** A delivery that ended the process this often, alone in flight, is failed (docs/decisions/0025). */
const most_interruptions = 5

const last_message = `The service ended during this attempt, as during ${most_interruptions - 1} before it, with nothing else in flight. It is not tried again.`

type Interrupted = Due & { claimed_at_ms: number; interruptions: number }

// The partial index holds what is claimed, and nothing else: this costs the same, however long the queue is.
const expired = (elapsed_ms: number) => sql`
  FROM webhook_queue AS q WHERE q.claim_id IS NOT NULL AND q.run_at_ms <= ${elapsed_ms} AND EXISTS (
    SELECT 1 FROM webhooks AS w
    WHERE w.workspace_id = q.workspace_id AND w.id = q.webhook_id AND w.status <> 'paused')`

const someExpired = prepare((db, p: { elapsed_ms: number; limit: number }) => ({
  compile: () =>
    sql<{ delivery_id: string }>`SELECT q.delivery_id ${expired(p.elapsed_ms)} LIMIT ${p.limit}`.compile(db),
}))

const takeExpired = prepare((db, p: { elapsed_ms: number; limit: number }) => ({
  compile: () =>
    sql<Interrupted>`
      SELECT q.workspace_id, q.delivery_id, q.webhook_id, q.claimed_at_ms, q.interruptions, ${payloadBytes} AS bytes
      ${expired(p.elapsed_ms)} ORDER BY q.interruptions, q.run_at_ms LIMIT ${p.limit}
      ${engineOf(db) === 'postgres' ? sql`FOR UPDATE OF q SKIP LOCKED` : sql``}`.compile(db),
}))

/** Whether a lease has ended that is none of `mine`: its owner is gone, or cannot write. */
export async function hasInterrupted(
  db: Db,
  elapsed_ms: number,
  mine: Pick<ReadonlySet<string>, 'has' | 'size'>,
): Promise<boolean> {
  const rows = await someExpired(db, { elapsed_ms, limit: mine.size + 1 })
  return rows.some(({ delivery_id }) => !mine.has(delivery_id))
}

type Request = Lease & {
  limit: number
  /** Deliveries that this process attempts right now, although their lease is over. */
  mine: Pick<ReadonlySet<string>, 'has' | 'size'>
}

/**
 * Takes deliveries whose attempt had no outcome, those with the fewest interruptions first; the log tells of the
 * interrupted attempt, which uses up no try. Deliveries that ended the process too often are not claimed: `spent` is how
 * they end.
 */
export async function claimInterrupted(
  tx: Db,
  request: Request,
): Promise<{ claims: Loaded[]; spent: Ended[] }> {
  const { moment, limit, mine } = request
  await followIndexes(tx)
  const found = await takeExpired(tx, { elapsed_ms: moment.elapsed_ms, limit: limit + mine.size })
  const due = found.filter(({ delivery_id }) => !mine.has(delivery_id)).slice(0, limit)
  const usable = due.filter(({ interruptions }) => interruptions < most_interruptions)
  const chosen = fitting(usable, request.fits)
  const spent = due.filter((one) => !usable.includes(one))
  const claims = await take(tx, chosen, request)
  await noteInterruptions(tx, chosen, claims, moment)
  return { claims, spent: await endsOf(tx, spent, moment) }
}

async function noteInterruptions(
  tx: Db,
  chosen: readonly Interrupted[],
  claims: readonly Claim[],
  moment: Moment,
): Promise<void> {
  const urls = new Map(claims.map(({ delivery_id, url }) => [delivery_id, url]))
  const attempts = chosen.map(({ workspace_id, delivery_id, claimed_at_ms }) => {
    const url = urls.get(delivery_id) ?? ''
    return interruptedAttempt({ workspace_id, delivery_id, url }, Number(claimed_at_ms), moment)
  })
  await insertAttempts(tx, attempts)
}

async function endsOf(tx: Db, spent: readonly Interrupted[], moment: Moment): Promise<Ended[]> {
  const started = new Map(spent.map(({ delivery_id, claimed_at_ms }) => [delivery_id, Number(claimed_at_ms)]))
  const claims = await claimsOf(tx, spent, {})
  return claims.map((claim) => {
    const duration_ms = Math.max(0, moment.elapsed_ms - (started.get(claim.delivery_id) ?? 0))
    const outcome = {
      started_at_ms: moment.now_ms - duration_ms,
      duration_ms,
      request: { url: claim.url, headers: {} },
      response: null,
      error: { code: 'interrupted' as const, message: last_message },
      ok: false,
    }
    return { claim: { ...claim, alone: true }, outcome, ended: moment, interrupted: true }
  })
}
