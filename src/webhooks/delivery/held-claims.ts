import { type Clock, momentOf } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import type { AttemptNumbers } from '../../http/metrics.ts'
import type { Tracer } from '../../telemetry/tracer.ts'
import type { Capacity } from './capacity.ts'
import { type Claim, findWithdrawn, interrupt, type LoadedClaim, release } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'
import { measure } from './measure.ts'
import type { Outcomes } from './outcomes.ts'
import { attemptSpan } from './span.ts'

type Options = {
  db: Db
  clock: Clock
  capacity: Capacity
  timeout_ms: number
  tracer?: Tracer | null
  /** Sends the request of a claim. */
  send: (claim: LoadedClaim, mayStart: () => boolean) => Promise<AttemptOutcome>
  write: Outcomes['write']
  /** False during a stop: claims are then released. */
  running: () => boolean
  /** Called when an attempt has ended. */
  wake: () => void
  onError: (error: unknown) => void
}

/** An attempt of this process that has not ended. */
type HeldClaim = {
  claim: Claim
  /** Null without a collector. */
  span: ReturnType<typeof attemptSpan> | null
  started_ms: number
  /** Read from performance.now(). */
  held_since_ms: number
  done: Promise<void>
  /** Whether the first byte may be sent; null until the sender asks. */
  may_start: boolean | null
  /** Set when the webhook is paused or deleted. An attempt that has not sent its first byte is then not sent. */
  held_back: boolean
  /** Set when the process stops before the attempt ends. Its outcome is then not written. */
  given_up: boolean
}

// The part of a lease that must remain after the timeout of an attempt, to write the outcome.
const outcome_write_ms = 5000
// Attempts that are younger are not looked up: another process announces its commits no sooner.
const min_withdrawal_age_ms = 2
const max_withdrawals = 1000

/** The attempts of this process, from a committed claim until the outcome is written or the claim is released. */
export function createHeldClaims(options: Options) {
  const { db, clock, capacity, tracer, onError } = options
  const attempt_listeners: ((attempt: AttemptNumbers) => void)[] = []
  const held = new Map<string, HeldClaim>()
  // For each webhook, an id made when the webhook was paused or deleted. A claim with a lower id may still be in its
  // commit, and must not be sent. Ids grow with time.
  const withdrawals = new Map<string, string>()

  /**
   * Starts committed claims. Releases claims whose webhook was paused or deleted after the claim, and all claims during a
   * stop. Resolves with the number of attempts started.
   */
  async function startAll(claims: LoadedClaim[]): Promise<number> {
    const unsent = claims.filter(
      ({ webhook_id, claim_id }) => !options.running() || (withdrawals.get(webhook_id) ?? '') > claim_id,
    )
    for (const loaded of claims) if (!unsent.includes(loaded)) void start(loaded)
    if (unsent.length) await releaseAll(unsent).catch(onError)
    return claims.length - unsent.length
  }

  const releaseAll = (claims: Claim[]) => transaction(db, (tx) => release(tx, claims, clock.elapsed()))

  function start({ payload, seq, ...claim }: LoadedClaim): Promise<void> {
    const { webhook_id, bytes, newest } = claim
    capacity.acquire(webhook_id, bytes, newest)
    const span = tracer ? attemptSpan(tracer, claim) : null
    const traceparent = span?.traceparent ?? claim.traceparent
    const entry: HeldClaim = {
      claim,
      span,
      started_ms: clock.elapsed(),
      held_since_ms: performance.now(),
      done: Promise.resolve(),
      may_start: null,
      held_back: false,
      given_up: false,
    }
    held.set(claim.delivery_id, entry)
    entry.done = attempt(
      entry,
      options.send({ ...claim, payload, seq, traceparent }, () => mayStart(entry)),
    )
      .then((outcome) => capacity.release(webhook_id, outcome, bytes, newest))
      .catch((error) => {
        capacity.release(webhook_id, null, bytes, newest)
        onError(error)
      })
      .finally(() => {
        held.delete(claim.delivery_id)
        options.wake()
      })
    return entry.done
  }

  /** Resolves with the outcome after it is written; with null when nothing was sent or the outcome was not written. */
  async function attempt(entry: HeldClaim, exchanged: Promise<AttemptOutcome>) {
    const outcome = await exchanged
    if (entry.given_up) return null
    if (entry.may_start === false) return releaseAll([entry.claim]).then(() => null)
    const measured = measure(entry.claim, outcome)
    for (const listener of attempt_listeners) listener(measured)
    entry.span?.end(outcome)
    const ended = { claim: entry.claim, outcome, ended: momentOf(clock) }
    return (await options.write(ended, () => entry.given_up)) ? outcome : null
  }

  // Do not send when the lease could end during the attempt: another process may hold the delivery by then.
  function mayStart(entry: HeldClaim): boolean {
    const { timeout_ms, lease_ends_ms } = entry.claim
    const in_time = clock.elapsed() + (timeout_ms ?? options.timeout_ms) + outcome_write_ms <= lease_ends_ms
    const may = in_time && !entry.held_back
    entry.may_start ||= may
    return may
  }

  // Another process may have paused or deleted a webhook. Hold back its attempts that still wait for a connection.
  async function followWithdrawals(): Promise<void> {
    const since_ms = performance.now() - min_withdrawal_age_ms
    const unsent = [...held.values()].filter(
      ({ may_start, held_since_ms }) => may_start === null && held_since_ms < since_ms,
    )
    if (!unsent.length) return
    const claims = unsent.map(({ claim }) => claim)
    for (const [webhook_id, change] of await findWithdrawn(db, claims))
      holdBack(webhook_id, change === 'paused' ? 'except pings' : 'all')
  }

  function holdBack(webhook_id: string, which: 'except pings' | 'all'): void {
    withdrawals.set(webhook_id, newId('clm'))
    const [oldest] = withdrawals.keys()
    if (oldest !== undefined && withdrawals.size > max_withdrawals) withdrawals.delete(oldest)
    for (const entry of held.values()) {
      if (entry.claim.webhook_id !== webhook_id) continue
      entry.held_back ||= entry.claim.kind !== 'ping' || which === 'all'
    }
  }

  return {
    startAll,
    start,
    followWithdrawals,
    holdBack,
    /** The claims, by the ids of their deliveries. */
    held: held as ReadonlyMap<string, HeldClaim>,
    onAttempt: (listener: (attempt: AttemptNumbers) => void) => void attempt_listeners.push(listener),
    /** Waits up to `limit_ms` for the attempts, then logs the rest as interrupted. */
    async end(limit_ms: number): Promise<void> {
      let deadline: NodeJS.Timeout | undefined
      const limit = new Promise<'over'>((resolve) => {
        deadline = setTimeout(resolve, limit_ms, 'over')
      })
      // Requests may still add pings during the wait.
      while (held.size) {
        const all = Promise.allSettled([...held.values()].map(({ done }) => done))
        if ((await Promise.race([limit, all])) === 'over') break
      }
      clearTimeout(deadline)
      const rest = [...held.values()]
      for (const entry of rest) entry.given_up = true
      // If this write fails, the leases end by themselves.
      if (rest.length) await transaction(db, (tx) => interrupt(tx, rest, momentOf(clock))).catch(onError)
    },
  }
}
