import { type Clock, momentOf } from '../../clock.ts'
import { type Database, type Tx, transaction } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import type { Seal } from '../../db/seal.ts'
import { bodyFor } from '../../events/emit.ts'
import type { AttemptNumbers } from '../../http/metrics.ts'
import type { Tracer } from '../../telemetry/tracer.ts'
import { cacheOpened } from '../registration/secrets.ts'
import type { BuildBody } from './bodies.ts'
import { createCapacity } from './capacity.ts'
import type { DueWebhook, Wanted } from './choose.ts'
import {
  type Claim,
  claimDue,
  claimed,
  findWithdrawn,
  interrupt,
  type LoadedClaim,
  lease_slack_ms,
  release,
} from './claim.ts'
import type { AttemptOutcome, Sender } from './deliver.ts'
import type { BlockingDelivery } from './in-order.ts'
import { claimInterrupted, hasInterrupted } from './interruptions.ts'
import { measure } from './measure.ts'
import { createOutcomes } from './outcomes.ts'
import { type QueueHead, queueHeads } from './queue.ts'
import type { Ended } from './record.ts'
import { signedRequest } from './signed-request.ts'
import { createSlowStart } from './slow-start.ts'
import { attemptSpan } from './span.ts'

export type DispatcherOptions = {
  database: Database
  clock: Clock
  seal: Seal
  sender: Sender
  buildBody?: BuildBody
  retry_delays: readonly number[]
  /** The timeout of a whole attempt, where the webhook has none. The lease lasts 30 s longer. */
  timeout_ms: number
  /** Makes a span of each attempt; null without a collector. */
  tracer?: Tracer | null
  /** Called with each error inside the dispatcher. The dispatcher continues. */
  onError: (error: unknown) => void
}

export type Dispatcher = ReturnType<typeof createDispatcher>

// Commits wake the dispatcher, and a timer wakes it for retries. The poll catches what both missed.
const poll_ms = 1000
const min_poll_ms = 100
const max_poll_rest_ms = 200
// The part of a lease that must remain after the timeout of an attempt, to write the outcome.
const outcome_write_ms = 5000
// Attempts that are younger are not looked up: another process announces its commits no sooner.
const min_withdrawal_age_ms = 2
const max_withdrawals = 1000
// The queue heads that one poll reads. The next poll reads the rest.
const max_queue_heads = 200

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

/** Sends due deliveries: claims them with leases, fairly across webhooks, and writes every outcome. */
export function createDispatcher(options: DispatcherOptions) {
  const { database, clock, sender, tracer, onError } = options
  const seal = cacheOpened(options.seal)
  const { db } = database
  const lease_ms = options.timeout_ms + lease_slack_ms
  const capacity = createCapacity()
  const slow_start = createSlowStart()
  const { retry_delays, buildBody = bodyFor } = options
  const outcomes = createOutcomes({ db, clock, retry_delays, refill, onClaims: startAll, onError })
  const attempt_listeners: ((attempt: AttemptNumbers) => void)[] = []
  const held = new Map<string, HeldClaim>()
  // For each webhook, an id made when the webhook was paused or deleted. A claim with a lower id may still be in its
  // commit, and must not be sent. Ids grow with time.
  const withdrawals = new Map<string, string>()
  // False before start(), after stop(), and in a process that only answers the API. Nothing is claimed then.
  let running = false
  let pumping: Promise<void> | null = null
  let woken = false
  let last_poll_ms = 0
  let rest_until_ms = 0
  let timer: NodeJS.Timeout | undefined

  // Every commit wakes the dispatcher, also the dispatcher's own. Polling may use at most 20 % of the time. A single slow
  // poll does not count: something else may have delayed it.
  function restAfter(duration_ms: number): number {
    const cost_ms = Math.min(duration_ms, last_poll_ms)
    last_poll_ms = duration_ms
    return performance.now() + Math.min(4 * cost_ms, max_poll_rest_ms)
  }

  /** Polls for due deliveries now. If a poll is running, it runs once more. */
  function wake() {
    woken = true
    if (pumping || !running) return
    clearTimeout(timer)
    const rest_ms = rest_until_ms - performance.now()
    if (rest_ms > 0) {
      timer = setTimeout(wake, rest_ms)
      return
    }
    pumping = pump()
      .catch((error) => {
        onError(error)
        return poll_ms
      })
      .then((pause_ms) => {
        pumping = null
        if (!running) return
        if (woken) setImmediate(wake)
        else timer = setTimeout(wake, pause_ms)
      })
  }

  /** Claims and starts deliveries until none is due. Resolves with the milliseconds until the next poll. */
  async function pump(): Promise<number> {
    while (running) {
      woken = false
      await followWithdrawals()
      if (slow_start.isPollDue() && (await takeInterrupted()) === 'others wait') return poll_ms
      // Full webhooks stay in the result, so read as many heads more.
      const before = performance.now()
      const max_heads = max_queue_heads + capacity.full()
      const heads = await queueHeads(db, max_heads)
      rest_until_ms = restAfter(performance.now() - before)
      const elapsed_ms = clock.elapsed()
      capacity.shareAmong(heads.filter(({ run_at_ms }) => run_at_ms <= elapsed_ms))
      const open = heads.filter((head) => capacity.free(head.webhook_id) + capacity.freeForNewest(head) > 0)
      const due = open.filter(({ run_at_ms }) => run_at_ms <= elapsed_ms)
      if (due.length && !(await claimAndStart(due))) return min_poll_ms
      // This poll read all heads. Deliveries that are still due have no free slot, and the end of an attempt wakes us.
      const later_ms = open.find(({ run_at_ms }) => run_at_ms > elapsed_ms)?.run_at_ms ?? Infinity
      if (!due.length || heads.length < max_heads)
        return Math.min(poll_ms, Math.max(1, later_ms - clock.elapsed()))
    }
    return poll_ms
  }

  /**
   * Claims deliveries that a crash interrupted, before all others. It attempts them one by one at first, with nothing
   * else in flight. So a delivery that crashes the process can be identified.
   */
  async function takeInterrupted(): Promise<'others wait' | 'others too'> {
    const any_interrupted = await hasInterrupted(db, clock.elapsed(), held)
    if (slow_start.recordPoll(any_interrupted)) capacity.slowStart()
    if (!any_interrupted) return 'others too'
    const one_by_one = slow_start.isOneByOne()
    const limit = one_by_one ? Number(held.size === 0) : capacity.room()
    if (limit > 0) {
      const { claims, spent } = await transaction(db, (tx) =>
        claimInterrupted(tx, { ...lease(), limit, held }),
      )
      for (const ended of spent) await outcomes.write(ended, () => !running)
      if (spent.length) wake()
      await startAll(claims)
    }
    return one_by_one ? 'others wait' : 'others too'
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

  /** Resolves with the number of attempts started. */
  const claimAndStart = async (due: QueueHead[]): Promise<number> =>
    startAll(
      await transaction(db, (tx) =>
        claim(tx, { webhooks: due, limit: capacity.free, newest: capacity.freeForNewest }),
      ),
    )

  const lease = () => ({
    claim_id: newId('clm'),
    moment: momentOf(clock),
    lease_ms,
    fits: capacity.round(),
    idle: held.size === 0,
  })

  const claim = (tx: Tx, wanted: Wanted): Promise<LoadedClaim[]> => claimDue(tx, { ...lease(), ...wanted })

  // Claims as many deliveries of each webhook as the receiver has just answered, without a poll. A webhook with more than
  // its share gets fewer. When slots are scarce, or an attempt got no answer, the next poll decides instead.
  async function refill(
    tx: Tx,
    ended: readonly Ended[],
    unblocking: readonly BlockingDelivery[],
  ): Promise<LoadedClaim[]> {
    if (!running || capacity.crowded()) return []
    const webhooks = new Map<string, DueWebhook & { slots: number; unblocked: string[] }>()
    for (const { claim: done, outcome } of ended) {
      const { workspace_id, webhook_id, max_per_second, ordered } = done
      const webhook = { workspace_id, webhook_id, max_per_second, ordered }
      const entry = webhooks.get(webhook_id) ?? { ...webhook, slots: 0, unblocked: [] }
      if (outcome.response === null || done.kind === 'ping') entry.slots = Number.NEGATIVE_INFINITY
      else if (!done.newest) entry.slots++
      webhooks.set(webhook_id, entry)
    }
    for (const { webhook_id, record_key } of unblocking) webhooks.get(webhook_id)?.unblocked.push(record_key)
    const slotsOf = (webhook_id: string) =>
      (webhooks.get(webhook_id)?.slots ?? 0) - capacity.excess(webhook_id)
    const wanted = [...webhooks.values()].filter(({ webhook_id }) => slotsOf(webhook_id) > 0)
    return wanted.length ? claim(tx, { webhooks: wanted, limit: slotsOf }) : []
  }

  /**
   * Starts committed claims. Releases claims whose webhook was paused or deleted after the claim, and all claims during a
   * stop. Resolves with the number of attempts started.
   */
  async function startAll(claims: LoadedClaim[]): Promise<number> {
    const unsent = claims.filter(
      ({ webhook_id, claim_id }) => !running || (withdrawals.get(webhook_id) ?? '') > claim_id,
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
      exchange({ ...claim, payload, seq, traceparent }, () => mayStart(entry)),
    )
      .then((outcome) => capacity.release(webhook_id, outcome, bytes, newest))
      .catch((error) => {
        capacity.release(webhook_id, null, bytes, newest)
        onError(error)
      })
      .finally(() => {
        held.delete(claim.delivery_id)
        wake()
      })
    return entry.done
  }

  /** Resolves with the outcome after it is written; with null when nothing was sent or the outcome was not written. */
  async function attempt(
    entry: HeldClaim,
    exchanged: Promise<AttemptOutcome>,
  ): Promise<AttemptOutcome | null> {
    const outcome = await exchanged
    if (entry.given_up) return null
    if (entry.may_start === false) return releaseAll([entry.claim]).then(() => null)
    const measured = measure(entry.claim, outcome)
    for (const listener of attempt_listeners) listener(measured)
    entry.span?.end(outcome)
    const ended = { claim: entry.claim, outcome, ended: momentOf(clock) }
    return (await outcomes.write(ended, () => entry.given_up)) ? outcome : null
  }

  // Do not send when the lease could end during the attempt: another process may hold the delivery by then.
  function mayStart(entry: HeldClaim): boolean {
    const { timeout_ms, lease_ends_ms } = entry.claim
    const in_time = clock.elapsed() + (timeout_ms ?? options.timeout_ms) + outcome_write_ms <= lease_ends_ms
    const may = in_time && !entry.held_back
    entry.may_start ||= may
    return may
  }

  // Not an async function, and no closure over the payload: either would keep the payload in memory until the answer.
  function exchange(claim: LoadedClaim, mayStart: () => boolean): Promise<AttemptOutcome> {
    const started_at_ms = clock.now()
    const failed = buildFailure(claim.url, started_at_ms)
    try {
      const request = signedRequest(claim, seal, started_at_ms, buildBody)
      const sent = sender.send({ ...request, timeout_ms: claim.timeout_ms, mayStart })
      return sent.then((outcome) => ({ ...outcome, started_at_ms }), failed)
    } catch (error) {
      return Promise.resolve(failed(error))
    }
  }

  // A request that cannot be built counts as a failed attempt. So its retries end, and other deliveries continue.
  const buildFailure = (url: string, started_at_ms: number) => (error: unknown) => {
    onError(error)
    const failure = {
      code: 'protocol_error' as const,
      message: "The request could not be built. See the service's log.",
    }
    const request = { url, headers: {} }
    return { started_at_ms, duration_ms: 0, request, response: null, error: failure, ok: false }
  }

  return {
    start() {
      running = true
      database.onCommit('deliveries', wake)
      wake()
    },
    wake,
    /** A lease for a new delivery that the caller passes to attemptNow. `timeout_ms` is its webhook's own. */
    lease: (timeout_ms: number | null) => ({
      claim_id: newId('clm'),
      ends_ms: clock.elapsed() + (timeout_ms ?? options.timeout_ms) + lease_slack_ms,
    }),
    /** Attempts a delivery that was created with a lease, past the queue. Resolves when its outcome is written. */
    async attemptNow(workspace_id: number, delivery_id: string): Promise<void> {
      const loaded = await claimed(db, workspace_id, delivery_id)
      if (loaded) await start(loaded)
    },
    /**
     * Stops the claimed attempts of a webhook that have not sent their first byte; their deliveries are due again. Call
     * it in the transaction that pauses or deletes the webhook, and again after its commit. A pause lets pings pass, because a
     * request waits for them.
     */
    holdBack,
    /** Stops claiming. Waits up to `limit_ms` for attempts in flight, then logs the rest as interrupted. */
    async stop(limit_ms: number): Promise<void> {
      running = false
      clearTimeout(timer)
      await pumping
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
    in_flight: () => held.size,
    /** Calls the listener for each attempt that has ended, for /metrics. */
    onAttempt: (listener: (attempt: AttemptNumbers) => void) => void attempt_listeners.push(listener),
  }
}
