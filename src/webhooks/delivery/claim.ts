import { sql } from 'kysely'
import type { Moment } from '../../clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import { followIndexes } from '../../db/statements/plans.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { prepareRows } from '../../db/statements/recordset.ts'
import { insertAttempts, interruptedAttempt } from './attempts.ts'
import { type Chosen, chooseDue, type Wanted } from './choose.ts'
import { type Due, dueColumns, queued } from './due.ts'

/** The settings of a webhook that each of its attempts needs. */
type Target = {
  url: string
  /** Encrypted, as stored. */
  secret: string
  next_secret: string | null
  next_secret_from_ms: number | null
  /** A JSON array. Null here or in `timeout_ms` means the setting of the installation. */
  retry_delays: string | null
  timeout_ms: number | null
  max_per_second: number | null
  /** Own headers with encrypted values, as stored. */
  headers: string | null
  ordered: 0 | 1
}

/** A delivery whose lease this process holds. */
export type Claim = Omit<Due, 'payload' | 'seq'> &
  Target & {
    claim_id: string
    lease_ends_ms: number
    /** No other attempt was in flight at the claim. If the process crashes now, this delivery may be the cause. */
    alone: boolean
    /** It has the slot for the newest delivery of its webhook. */
    newest: boolean
  }

/** Whether failed attempts of a delivery are retried. A resend and a test are one attempt. */
export const isRetried = ({ kind }: Pick<Due, 'kind'>): boolean => kind === 'event' || kind === 'backfill'

/** A claim with the payload and the number of its event. Load it only right before the attempt: payloads may be large. */
export type LoadedClaim = Claim & { payload: string; seq: number }

type ClaimRequest = Wanted & ClaimRound

/** The values that all claims of one round share. */
export type ClaimRound = {
  claim_id: string
  moment: Moment
  /** The lease of a delivery whose webhook has no timeout of its own. */
  lease_ms: number
  /** Called once for each body, in the order of sending. A body that does not fit stays in the queue. */
  fits: (webhook_id: string, bytes: number) => boolean
  /** No attempt is in flight, so the claim of a single delivery is `alone`. */
  idle: boolean
}

/**
 * Takes leases of due deliveries, from the ends of each webhook's queue. A claimed row is due again when its lease ends, so a
 * crashed owner needs no reaper. Only claimInterrupted takes rows whose lease has ended.
 */
export async function claimDue(tx: Tx, request: ClaimRequest): Promise<LoadedClaim[]> {
  // Sent with the first statements of the search, which then fail with them if the connection is lost. The webhooks are
  // locked before rows of the queue.
  const settings = followIndexes(tx)
  const targets = targetsOf(tx, request.webhooks)
  const [chosen, found] = await Promise.all([chooseDue(tx, request, targets), targets, settings])
  return claimChosen(tx, chosen, found, request)
}

/** Leases the chosen rows, whose webhooks are among `targets`, and loads the payloads that the search did not read. */
export async function claimChosen(
  tx: Tx,
  chosen: readonly Chosen[],
  targets: Targets,
  request: ClaimRound,
): Promise<LoadedClaim[]> {
  const { claim_id, lease_ms } = request
  const { elapsed_ms } = request.moment
  const alone = request.idle && chosen.length === 1
  const claims = chosen.map((row) => {
    const target = targets.get(row.webhook_id) as Target
    const own_ms = target.timeout_ms === null ? lease_ms : target.timeout_ms + lease_slack_ms
    return { ...row, ...target, claim_id, lease_ends_ms: elapsed_ms + own_ms, alone }
  })
  // Sent with the statement below, or with the COMMIT.
  tx.defer(lease(tx, claims, { claim_id, elapsed_ms, alone: alone ? 1 : 0 }))
  const unread = claims.filter(({ payload }) => payload === null)
  const read = new Map((await payloadsOf(tx, unread, {})).map(({ id, payload }) => [id, payload]))
  // Sort here: the database would carry the payloads through its sort.
  return claims
    .map((claim) => ({ ...claim, payload: claim.payload ?? (read.get(claim.event_id) as string) }))
    .sort((a, b) => (a.delivery_id < b.delivery_id ? -1 : 1))
}

/** The part of a lease beyond the timeout of the attempt, so that a live owner keeps its lease. */
export const lease_slack_ms = 30_000

const row_columns = { workspace_id: 'bigint!', delivery_id: 'text!' } as const

type LeaseOf = { claim_id: string; elapsed_ms: number; alone: number }
const lease_columns = { ...row_columns, lease_ends_ms: 'bigint!' } as const
const lease = prepareRows(
  lease_columns,
  ({ row, rows }, p: LeaseOf) => sql`UPDATE webhook_queue AS q
      SET claim_id = ${p.claim_id}, claimed_at_ms = ${p.elapsed_ms}, run_at_ms = ${row.lease_ends_ms},
        interruptions = q.interruptions + ${p.alone}
      ${rows('FROM')} WHERE q.workspace_id = ${row.workspace_id} AND q.delivery_id = ${row.delivery_id}`,
)

const event_columns = { workspace_id: 'bigint!', event_id: 'text!' } as const
const payloadsOf = prepareRows(
  event_columns,
  ({ row, rows }) => sql<{
    id: string
    payload: string
  }>`SELECT e.id, e.payload FROM ${rows('first')} events AS e
      WHERE e.workspace_id = ${row.workspace_id} AND e.id = ${row.event_id}`,
)

const target_columns = sql`w.url, w.secret, w.next_secret, w.next_secret_from_ms, w.retry_delays, w.timeout_ms,
  w.max_per_second, w.headers, w.ordered`

const webhook_columns = { workspace_id: 'bigint!', webhook_id: 'text!' } as const
// The webhook may have been paused or deleted since the poll. A concurrent deletion waits for this transaction.
const unpaused = prepareRows(
  webhook_columns,
  ({ row, rows }, _, db) => sql<
    Target & { id: string }
  >`SELECT w.id, ${target_columns} FROM ${rows('first')} webhooks AS w
      WHERE w.workspace_id = ${row.workspace_id} AND w.id = ${row.webhook_id} AND w.status <> 'paused'
      ${rowLock(db, 'FOR KEY SHARE OF w SKIP LOCKED')}`,
)

/** Webhooks by their ids. */
export type Targets = ReadonlyMap<string, Target>

/** The webhooks of these that are not paused and not about to be deleted. Locks them until the commit. */
export async function targetsOf(
  tx: Tx,
  webhooks: readonly { workspace_id: number; webhook_id: string }[],
): Promise<Targets> {
  const rows = await unpaused(tx, webhooks, {})
  return new Map(rows.map(({ id, ...target }) => [id, target]))
}

const claimedRow = prepare(
  (p: { workspace_id: number; delivery_id: string }) => sql<Omit<LoadedClaim, 'alone' | 'newest'>>`
      SELECT ${dueColumns('all')}, q.claim_id, q.run_at_ms AS lease_ends_ms, ${target_columns}
      FROM ${queued} JOIN webhooks AS w ON w.workspace_id = q.workspace_id AND w.id = q.webhook_id
      WHERE q.workspace_id = ${p.workspace_id} AND q.delivery_id = ${p.delivery_id} AND q.claim_id IS NOT NULL`,
)

/** The claim of a delivery that is already claimed; null when the delivery is not claimed or was removed. */
export async function claimed(
  db: Db,
  workspace_id: number,
  delivery_id: string,
): Promise<LoadedClaim | null> {
  const [claim] = await claimedRow(db, { workspace_id, delivery_id })
  return claim ? { ...claim, alone: false, newest: false } : null
}

const claim_columns = {
  workspace_id: 'bigint!',
  delivery_id: 'text!',
  claim_id: 'text!',
  counted: 'bigint!',
} as const
const releaseClaims = prepareRows(
  claim_columns,
  ({ row, rows }, p: { elapsed_ms: number }) => sql<{ delivery_id: string }>`
      UPDATE webhook_queue SET run_at_ms = ${p.elapsed_ms}, claim_id = NULL, claimed_at_ms = NULL,
        interruptions = webhook_queue.interruptions - ${row.counted} ${rows('FROM')}
      WHERE webhook_queue.workspace_id = ${row.workspace_id} AND webhook_queue.delivery_id = ${row.delivery_id}
        AND webhook_queue.claim_id = ${row.claim_id}
      RETURNING webhook_queue.delivery_id`,
)

/**
 * Releases the leases of attempts that never began: the deliveries are due at once, and nothing is counted. Returns the
 * ids of the deliveries whose lease this process still held.
 */
export async function release(tx: Tx, claims: readonly Claim[], elapsed_ms: number): Promise<Set<string>> {
  const rows = claims.map((claim) => ({ ...claim, counted: claim.alone ? 1 : 0 }))
  const released = await releaseClaims(tx, rows, { elapsed_ms })
  tx.announce('deliveries')
  return new Set(released.map(({ delivery_id }) => delivery_id))
}

/** Releases the leases of attempts that a stop interrupts. The log lists these attempts; they do not count as tries. */
export async function interrupt(
  tx: Tx,
  attempts: readonly { claim: Claim; started_ms: number }[],
  moment: Moment,
): Promise<void> {
  const released = await release(
    tx,
    attempts.map(({ claim }) => claim),
    moment.elapsed_ms,
  )
  const interrupted = attempts.filter(({ claim }) => released.has(claim.delivery_id))
  await insertAttempts(
    tx,
    interrupted.map(({ claim, started_ms }) => interruptedAttempt(claim, started_ms, moment)),
  )
}

const ids = { workspace_id: 'bigint!', id: 'text!' } as const
const webhookStatuses = prepareRows(
  ids,
  ({ row, rows }) => sql<{ id: string; status: string }>`
      SELECT w.id, w.status FROM ${rows('first')} webhooks AS w
      WHERE w.workspace_id = ${row.workspace_id} AND w.id = ${row.id}`,
)

/** Returns the webhooks of these claims that another process has paused or deleted since the claim. */
export async function findWithdrawn(
  db: Db,
  claims: readonly Claim[],
): Promise<Map<string, 'paused' | 'deleted'>> {
  const webhooks = new Map(claims.map(({ workspace_id, webhook_id }) => [webhook_id, workspace_id]))
  const keys = [...webhooks].map(([id, workspace_id]) => ({ workspace_id, id }))
  const statuses = new Map((await webhookStatuses(db, keys, {})).map((row) => [row.id, row.status]))
  const withdrawn = new Map<string, 'paused' | 'deleted'>()
  for (const id of webhooks.keys()) {
    const status = statuses.get(id)
    if (status === undefined) withdrawn.set(id, 'deleted')
    else if (status === 'paused') withdrawn.set(id, 'paused')
  }
  return withdrawn
}
