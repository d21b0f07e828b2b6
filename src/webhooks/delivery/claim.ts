import { type RawBuilder, sql } from 'kysely'
import type { Moment } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { announce, engineOf, prepare } from '../../db/statements/prepare.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { insertAttempts, interruptedAttempt } from './attempts.ts'

/** A delivery that this process holds the lease of. */
export type Claim = {
  claim_id: string
  delivery_id: string
  workspace_id: number
  webhook_id: string
  kind: 'event' | 'resend' | 'ping'
  tries: number
  lease_ends_ms: number
  event: string
  /** Of the payload. */
  bytes: number
  /** Nothing else was in flight when it was claimed: if the process ends now, this delivery is the suspect. */
  alone: boolean
  url: string
  /** Encrypted, as stored. */
  secret: string
  next_secret: string | null
  next_secret_from_ms: number | null
}

/** A claim with what is sent. Only claims that are about to be sent have it: payloads may be large. */
export type Loaded = Claim & { payload: string }

type ClaimRequest = {
  /** In the order in which they are served; each is asked for its limit when its turn comes. */
  webhooks: readonly { workspace_id: number; webhook_id: string }[]
  /** How many deliveries a webhook may be given, when `promised` others have been chosen in this round. */
  limit: (webhook_id: string, promised: number) => number
} & Lease

/** What every claim of a round has in common. */
export type Lease = {
  claim_id: string
  moment: Moment
  lease_ms: number
  /** Asked once for each body, in the order in which they would be sent: a body that does not fit waits. */
  fits: (webhook_id: string, bytes: number) => boolean
  /** Nothing is in flight: a claim of a single delivery is alone. */
  idle: boolean
}

/**
 * Takes the lease of due deliveries of some webhooks, each one's oldest first. A claimed row becomes due again when its
 * lease ends, so a crashed owner needs no reaper; such rows are taken by claimInterrupted alone.
 */
export async function claimDue(tx: Db, request: ClaimRequest): Promise<Loaded[]> {
  const { elapsed_ms } = request.moment
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
        return dueOf(tx, { workspace_id, webhook_id, elapsed_ms, limit })
      })
    for (const some of await Promise.all(due)) chosen.push(...fitting(some, request.fits))
  }
  await settled
  return take(tx, chosen, request)
}

/** Those before the first whose body does not fit: the oldest goes first. */
export function fitting<One extends Due>(due: readonly One[], fits: Lease['fits']): One[] {
  const first = due.findIndex(({ webhook_id, bytes }) => !fits(webhook_id, bytes))
  return due.slice(0, first < 0 ? due.length : first)
}

/** Leases the chosen rows and loads what is sent. */
export async function take(tx: Db, chosen: readonly Due[], request: Lease): Promise<Loaded[]> {
  if (!chosen.length) return []
  const { claim_id, lease_ms } = request
  const { elapsed_ms } = request.moment
  const alone = request.idle && chosen.length === 1
  const p = { claim_id, elapsed_ms, lease_ends_ms: elapsed_ms + lease_ms, alone: alone ? 1 : 0 }
  const [, claims] = await Promise.all([lease(tx, chosen, p), loadedClaimsOf(tx, chosen, {})])
  // Sorted here: the database would carry the bodies through the sorting.
  return claims.map((one) => ({ ...one, alone })).sort((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1))
}

// Statements that travel together; how many deliveries they will find is known only afterwards.
const asked_together = 8

/** A row of the queue that may be claimed; `bytes` is the size of its payload. */
export type Due = { workspace_id: number; delivery_id: string; webhook_id: string; bytes: number }

/** The size of a delivery's payload. Both engines know it without reading the payload. */
export const payloadBytes = sql<number>`(
  SELECT octet_length(e.payload) FROM webhook_deliveries AS d
  JOIN events AS e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
  WHERE d.workspace_id = q.workspace_id AND d.id = q.delivery_id)`

// Several processes claim at once: each skips what another one is just about to take. What was paused since the look at
// the queue is kept. The order among equals is that of their making, and that of the index.
const dueOf = prepare(
  (db, p: { workspace_id: number; webhook_id: string; elapsed_ms: number; limit: number }) => {
    const query = db
      .selectFrom('webhook_queue as q')
      .select(['q.workspace_id', 'q.delivery_id', 'q.webhook_id', payloadBytes.as('bytes')])
      .where('q.workspace_id', '=', p.workspace_id)
      .where('q.webhook_id', '=', p.webhook_id)
      .where('q.run_at_ms', '<=', p.elapsed_ms)
      .where('q.claim_id', 'is', null)
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
    // Lock the webhook too. A deletion waits for this claim, or this claim finds no webhook.
    return query
      .innerJoin('webhooks as w', (join) =>
        join.on('w.workspace_id', '=', p.workspace_id).on('w.id', '=', p.webhook_id),
      )
      .orderBy('q.delivery_id')
      .modifyEnd(sql`FOR UPDATE OF q SKIP LOCKED FOR KEY SHARE OF w SKIP LOCKED`)
  },
)

const row_columns = { workspace_id: 'bigint!', delivery_id: 'text!' } as const

type LeaseOf = { claim_id: string; elapsed_ms: number; lease_ends_ms: number; alone: number }
const lease = prepareRows(row_columns, (db, { row, rows }, p: LeaseOf) => ({
  compile: () =>
    sql`UPDATE webhook_queue AS q
      SET claim_id = ${p.claim_id}, claimed_at_ms = ${p.elapsed_ms}, run_at_ms = ${p.lease_ends_ms},
        interruptions = q.interruptions + ${p.alone}
      ${rows('FROM')} WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`.compile(
      db,
    ),
}))

const claimsWith = <One>(payload: RawBuilder<unknown>) =>
  prepareRows(row_columns, (db, { row, rows }) => ({
    compile: () =>
      sql<One>`
      SELECT q.claim_id, q.delivery_id, q.workspace_id, q.webhook_id, q.kind, q.tries, q.run_at_ms AS lease_ends_ms,
        d.event, octet_length(e.payload) AS bytes, ${payload} w.url, w.secret, w.next_secret, w.next_secret_from_ms
      FROM ${rows('first')} webhook_queue AS q
      JOIN webhook_deliveries AS d ON d.workspace_id = q.workspace_id AND d.id = q.delivery_id
      JOIN events AS e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
      JOIN webhooks AS w ON w.workspace_id = q.workspace_id AND w.id = q.webhook_id
      WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id} AND q.claim_id IS NOT NULL`.compile(
        db,
      ),
  }))

const loadedClaimsOf = claimsWith<Omit<Loaded, 'alone'>>(sql`e.payload,`)
/** Claims as they stand in the queue, without what is sent. */
export const claimsOf = claimsWith<Omit<Claim, 'alone'>>(sql``)

/** The claim of a delivery that is claimed already; null when it is not, or gone. */
export async function claimed(db: Db, workspace_id: number, delivery_id: string): Promise<Loaded | null> {
  const [claim] = await loadedClaimsOf(db, [{ workspace_id, delivery_id }], {})
  return claim ? { ...claim, alone: false } : null
}

const claim_columns = {
  workspace_id: 'bigint!',
  delivery_id: 'text!',
  claim_id: 'text!',
  counted: 'bigint!',
} as const
const giveBack = prepareRows(claim_columns, (db, { row, rows }, p: { elapsed_ms: number }) => ({
  compile: () =>
    sql<{ delivery_id: string }>`
      UPDATE webhook_queue SET run_at_ms = ${p.elapsed_ms}, claim_id = NULL, claimed_at_ms = NULL,
        interruptions = webhook_queue.interruptions - ${row.counted} ${rows('FROM')}
      WHERE webhook_queue.workspace_id = ${row.workspace_id} AND webhook_queue.delivery_id = ${row.delivery_id}
        AND webhook_queue.claim_id = ${row.claim_id}
      RETURNING webhook_queue.delivery_id`.compile(db),
}))

/**
 * Gives the leases of attempts that never began back, so that the deliveries are due at once. It counts neither as an
 * attempt nor as an interruption.
 * Returns the ids of those that still were this owner's.
 */
export async function release(tx: Db, claims: readonly Claim[], elapsed_ms: number): Promise<Set<string>> {
  const rows = claims.map((one) => ({ ...one, counted: one.alone ? 1 : 0 }))
  const given = await giveBack(tx, rows, { elapsed_ms })
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
    cut.map(({ claim, started_ms }) => interruptedAttempt(claim, started_ms, moment)),
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
