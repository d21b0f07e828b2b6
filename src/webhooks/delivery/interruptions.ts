import { sql } from 'kysely'
import type { Moment } from '../../clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { insertAttempts, interruptedAttempt } from './attempts.ts'
import { fitting } from './choose.ts'
import {
  type Claim,
  type ClaimRound,
  claimChosen,
  type LoadedClaim,
  type Targets,
  targetsOf,
} from './claim.ts'
import { type Due, dueColumns, queued } from './due.ts'
import { createPacing } from './pace.ts'
import type { Ended } from './record.ts'

/** A delivery fails after this many crashes during an attempt, with nothing else in flight (docs/decisions/0025). */
const max_interruptions = 5

const last_message = `The service stopped during this attempt and ${max_interruptions - 1} earlier ones, with no other attempt in flight. Rapport does not retry the delivery. Resend it after the cause is fixed.`

type Interrupted = Due & {
  claim_id: string
  claimed_at_ms: number
  lease_ends_ms: number
  interruptions: number
  max_per_second: number | null
}

// The partial index holds only claimed rows, so the cost does not depend on the length of the queue.
const expired = (elapsed_ms: number, rows = sql`webhook_queue AS q`) => sql`
  FROM ${rows} JOIN webhooks AS w ON w.workspace_id = q.workspace_id AND w.id = q.webhook_id
  WHERE q.claim_id IS NOT NULL AND q.run_at_ms <= ${elapsed_ms} AND w.status <> 'paused'
    AND (w.paced_until_ms IS NULL OR w.paced_until_ms <= ${elapsed_ms})`

const someExpired = prepare(
  (p: { elapsed_ms: number; limit: number }) =>
    sql<{ delivery_id: string }>`SELECT q.delivery_id ${expired(p.elapsed_ms)} LIMIT ${p.limit}`,
)

const findExpired = prepare(
  (p: { elapsed_ms: number; limit: number }, db) => sql<Interrupted>`
      SELECT ${dueColumns('none')}, q.claim_id, q.claimed_at_ms, q.run_at_ms AS lease_ends_ms, q.interruptions,
        w.max_per_second
      ${expired(p.elapsed_ms, queued)} ORDER BY q.interruptions, q.run_at_ms LIMIT ${p.limit}
      ${rowLock(db, 'FOR UPDATE OF q SKIP LOCKED')}`,
)

/** Whether the lease of a delivery outside `held` has ended: its owner crashed, or cannot write. */
export async function hasInterrupted(
  db: Db,
  elapsed_ms: number,
  held: Pick<ReadonlySet<string>, 'has' | 'size'>,
): Promise<boolean> {
  const rows = await someExpired(db, { elapsed_ms, limit: held.size + 1 })
  return rows.some(({ delivery_id }) => !held.has(delivery_id))
}

type Request = ClaimRound & {
  limit: number
  /** Deliveries that this process still attempts, although their lease may have ended. */
  held: Pick<ReadonlySet<string>, 'has' | 'size'>
}

/**
 * Claims deliveries whose attempt has no outcome, those with the fewest interruptions first. It logs the interrupted
 * attempt, which does not count as a try. Deliveries that crashed the process too often are not claimed: `spent` holds
 * their last outcomes, which the caller writes.
 */
export async function claimInterrupted(
  tx: Tx,
  request: Request,
): Promise<{ claims: LoadedClaim[]; spent: Ended[] }> {
  const { moment, limit, held } = request
  await followIndexes(tx)
  const found = await findExpired(tx, { elapsed_ms: moment.elapsed_ms, limit: limit + held.size })
  const targets = await targetsOf(tx, webhooksOf(found))
  const due = found
    .filter(({ delivery_id, webhook_id }) => !held.has(delivery_id) && targets.has(webhook_id))
    .slice(0, limit)
  const usable = due.filter(({ interruptions }) => interruptions < max_interruptions)
  const pacing = createPacing(tx, moment.elapsed_ms)
  const chosen = fitting(await paced(usable, pacing.free), request.fits)
  pacing.store(chosen)
  const spent = due.filter((row) => !usable.includes(row))
  const claims = await claimChosen(
    tx,
    chosen.map((row) => ({ ...row, newest: false })),
    targets,
    request,
  )
  await logInterruptions(tx, chosen, claims, moment)
  return { claims, spent: lastOutcomes(spent, targets, moment) }
}

const webhooksOf = (rows: readonly Interrupted[]) => [
  ...new Map(rows.map(({ workspace_id, webhook_id }) => [webhook_id, { workspace_id, webhook_id }])).values(),
]

/** The deliveries that may start now under their webhook's `max_per_second`. */
async function paced(
  due: readonly Interrupted[],
  freeOf: (webhook: Interrupted) => Promise<number>,
): Promise<Interrupted[]> {
  const free = new Map<string, number>()
  const startable: Interrupted[] = []
  for (const row of due) {
    const { webhook_id, max_per_second } = row
    const left = max_per_second === null ? 1 : (free.get(webhook_id) ?? (await freeOf(row)))
    free.set(webhook_id, left - 1)
    if (left > 0) startable.push(row)
  }
  return startable
}

async function logInterruptions(
  tx: Tx,
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

function lastOutcomes(spent: readonly Interrupted[], targets: Targets, moment: Moment): Ended[] {
  return spent.flatMap((row) => {
    const target = targets.get(row.webhook_id)
    if (!target) return []
    const claim = { ...row, ...target, alone: true, newest: false }
    const duration_ms = Math.max(0, moment.elapsed_ms - Number(row.claimed_at_ms))
    const outcome = {
      started_at_ms: moment.now_ms - duration_ms,
      duration_ms,
      request: { url: claim.url, headers: {} },
      response: null,
      error: { code: 'interrupted' as const, message: last_message },
      ok: false,
    }
    return [{ claim, outcome, ended: moment, interrupted: true as const }]
  })
}
