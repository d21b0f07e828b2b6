import { sql } from 'kysely'
import { type Moment, shownTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { followIndexes } from '../db/plans.ts'
import { announce, engineOf, prepare } from '../db/prepare.ts'
import { prepareRows } from '../db/recordset.ts'
import { insertAttempts } from './attempts.ts'

/** A delivery that this process holds the lease of, with all that its attempt needs. */
export type Claim = {
  claim_id: string
  delivery_id: string
  workspace_id: number
  webhook_id: string
  kind: 'event' | 'resend' | 'ping'
  tries: number
  lease_ends_ms: number
  event: string
  payload: string
  url: string
  /** Encrypted, as stored. */
  secret: string
  next_secret: string | null
  next_secret_from_ms: number | null
}

type ClaimRequest = {
  /** In the order in which they are served; each is asked for its limit when its turn comes. */
  webhooks: readonly { workspace_id: number; webhook_id: string }[]
  /** How many deliveries a webhook may be given, when `promised` others have been chosen in this round. */
  limit: (webhook_id: string, promised: number) => number
  moment: Moment
  lease_ms: number
  claim_id: string
  /** Deliveries that this process attempts right now, although their lease is over. */
  overdue: ReadonlySet<string>
}

/**
 * Takes the lease of due deliveries of some webhooks, each one's oldest first. A claimed row becomes due again when its
 * lease ends, so a crashed owner needs no reaper; the attempt that it interrupted is noted when the next owner comes,
 * and uses up no try.
 */
export async function claimDue(tx: Db, request: ClaimRequest): Promise<Claim[]> {
  const { moment, overdue, claim_id } = request
  const { elapsed_ms } = moment
  const chosen: Due[] = []
  const settled = followIndexes(tx)
  for (let from = 0; from < request.webhooks.length; from += asked_together) {
    let promised = chosen.length
    const due = request.webhooks
      .slice(from, from + asked_together)
      .map(async ({ workspace_id, webhook_id }) => {
        const limit = request.limit(webhook_id, promised)
        if (limit < 1) return []
        promised += limit
        const rows = await dueOf(tx, { workspace_id, webhook_id, elapsed_ms, limit: limit + overdue.size })
        return rows.filter(({ delivery_id }) => !overdue.has(delivery_id)).slice(0, limit)
      })
    for (const some of await Promise.all(due)) chosen.push(...some)
  }
  await settled
  if (!chosen.length) return []
  const lease_ends_ms = elapsed_ms + request.lease_ms
  const [, claims] = await Promise.all([
    lease(tx, chosen, { claim_id, elapsed_ms, lease_ends_ms }),
    claimsOf(tx, chosen, {}),
  ])
  await noteInterruptions(tx, chosen, claims, moment)
  // Sorted here: the database would carry the bodies through the sorting.
  return claims.sort((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1))
}

// Statements that travel together; how many deliveries they will find is known only afterwards.
const asked_together = 8

type Due = { workspace_id: number; delivery_id: string; claimed_at_ms: number | null }

// Several processes claim at once: each skips what another one is just about to take. What was paused since the look at
// the queue is kept. The order among equals is that of their making, and that of the index.
const dueOf = prepare(
  (db, p: { workspace_id: number; webhook_id: string; elapsed_ms: number; limit: number }) => {
    const query = db
      .selectFrom('webhook_queue as q')
      .select(['q.workspace_id', 'q.delivery_id', 'q.claimed_at_ms'])
      .where('q.workspace_id', '=', p.workspace_id)
      .where('q.webhook_id', '=', p.webhook_id)
      .where('q.run_at_ms', '<=', p.elapsed_ms)
      .where(({ selectFrom, exists }) =>
        exists(
          selectFrom('webhooks as w')
            .select('w.id')
            .where('w.workspace_id', '=', p.workspace_id)
            .where('w.id', '=', p.webhook_id)
            .where('w.status', '<>', 'paused'),
        ),
      )
      .orderBy('q.run_at_ms')
      .limit(p.limit)
    // SQLite's index ends with the id by itself; asked for by name, it would be sorted once more.
    if (engineOf(db) === 'sqlite') return query
    return query.orderBy('q.delivery_id').forUpdate('q').skipLocked()
  },
)

const row_columns = { workspace_id: 'bigint!', delivery_id: 'text!' } as const

type Lease = { claim_id: string; elapsed_ms: number; lease_ends_ms: number }
const lease = prepareRows(row_columns, (db, { row, rows }, p: Lease) => ({
  compile: () =>
    sql`UPDATE webhook_queue AS q
      SET claim_id = ${p.claim_id}, claimed_at_ms = ${p.elapsed_ms}, run_at_ms = ${p.lease_ends_ms}
      ${rows('FROM')} WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`.compile(
      db,
    ),
}))

const claimsOf = prepareRows(row_columns, (db, { row, rows }) => ({
  compile: () =>
    sql<Claim>`
      SELECT q.claim_id, q.delivery_id, q.workspace_id, q.webhook_id, q.kind, q.tries, q.run_at_ms AS lease_ends_ms,
        d.event, e.payload, w.url, w.secret, w.next_secret, w.next_secret_from_ms
      FROM ${rows('first')} webhook_queue AS q
      JOIN webhook_deliveries AS d ON d.workspace_id = q.workspace_id AND d.id = q.delivery_id
      JOIN events AS e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
      JOIN webhooks AS w ON w.workspace_id = q.workspace_id AND w.id = q.webhook_id
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id} AND q.claim_id IS NOT NULL`.compile(
      db,
    ),
}))

/** The claim of a delivery that is claimed already; null when it is not, or gone. */
export async function claimed(db: Db, workspace_id: number, delivery_id: string): Promise<Claim | null> {
  const [claim] = await claimsOf(db, [{ workspace_id, delivery_id }], {})
  return claim ?? null
}

async function noteInterruptions(tx: Db, chosen: readonly Due[], claims: readonly Claim[], moment: Moment) {
  const urls = new Map(claims.map(({ delivery_id, url }) => [delivery_id, url]))
  const interrupted = chosen.filter(({ claimed_at_ms }) => claimed_at_ms !== null)
  await insertAttempts(
    tx,
    interrupted.map(({ workspace_id, delivery_id, claimed_at_ms }) =>
      interruption(
        { workspace_id, delivery_id, url: urls.get(delivery_id) ?? '' },
        Number(claimed_at_ms),
        moment,
      ),
    ),
  )
}

const interruption = (
  { workspace_id, delivery_id, url }: Pick<Claim, 'workspace_id' | 'delivery_id' | 'url'>,
  started_ms: number,
  moment: Moment,
) => ({
  workspace_id,
  delivery_id,
  started_at: shownTime(started_ms, moment),
  duration_ms: Math.max(0, moment.elapsed_ms - started_ms),
  request: { url, headers: {} },
  response: null,
  error: {
    code: 'interrupted' as const,
    message: 'The service ended, or could not write down how this attempt ended. It does not count.',
  },
})

const claim_columns = { workspace_id: 'bigint!', delivery_id: 'text!', claim_id: 'text!' } as const
const giveBack = prepareRows(claim_columns, (db, { row, rows }, p: { elapsed_ms: number }) => ({
  compile: () =>
    sql<{ delivery_id: string }>`
      UPDATE webhook_queue SET run_at_ms = ${p.elapsed_ms}, claim_id = NULL, claimed_at_ms = NULL ${rows('FROM')}
      WHERE webhook_queue.workspace_id = ${row.workspace_id} AND webhook_queue.delivery_id = ${row.delivery_id}
        AND webhook_queue.claim_id = ${row.claim_id}
      RETURNING webhook_queue.delivery_id`.compile(db),
}))

/**
 * Gives the leases of attempts that never began back, so that the deliveries are due at once. It counts as no attempt.
 * Returns the ids of those that still were this owner's.
 */
export async function release(tx: Db, claims: readonly Claim[], elapsed_ms: number): Promise<Set<string>> {
  const given = await giveBack(tx, claims, { elapsed_ms })
  announce(tx, 'deliveries')
  return new Set(given.map(({ delivery_id }) => delivery_id))
}

/** Gives the leases of attempts back that a stop cuts short; the log tells of them, and they do not count. */
export async function interrupt(
  tx: Db,
  attempts: readonly { claim: Claim; started_ms: number }[],
  moment: Moment,
): Promise<void> {
  const given = await release(
    tx,
    attempts.map(({ claim }) => claim),
    moment.elapsed_ms,
  )
  const cut = attempts.filter(({ claim }) => given.has(claim.delivery_id))
  await insertAttempts(
    tx,
    cut.map(({ claim, started_ms }) => interruption(claim, started_ms, moment)),
  )
}

const ids = { workspace_id: 'bigint!', id: 'text!' } as const
const stillSent = prepareRows(ids, (db, { row, rows }) => ({
  compile: () =>
    sql<{ id: string; status: string }>`
      SELECT w.id, w.status FROM ${rows('first')} webhooks AS w
      WHERE w.workspace_id = ${row.workspace_id} AND w.id = ${row.id}`.compile(db),
}))

/** Which webhooks of these claims are paused or gone by now: another process may have done it. */
export async function withdrawn(db: Db, claims: readonly Claim[]): Promise<Map<string, 'paused' | 'gone'>> {
  const webhooks = new Map(claims.map(({ workspace_id, webhook_id }) => [webhook_id, workspace_id]))
  const asked = [...webhooks].map(([id, workspace_id]) => ({ workspace_id, id }))
  const found = new Map((await stillSent(db, asked, {})).map((row) => [row.id, row.status]))
  const answer = new Map<string, 'paused' | 'gone'>()
  for (const id of webhooks.keys()) {
    const status = found.get(id)
    if (status === undefined) answer.set(id, 'gone')
    else if (status === 'paused') answer.set(id, 'paused')
  }
  return answer
}
