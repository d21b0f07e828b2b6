import { type Clock, momentOf } from '../../clock.ts'
import { type Database, type Db, transaction } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import type { Seal } from '../../db/seal.ts'
import { rememberOpened } from '../registration/secrets.ts'
import { createCapacity } from './capacity.ts'
import { type Claim, claimDue, claimed, interrupt, type Loaded, release, withdrawn } from './claim.ts'
import type { AttemptOutcome, Sender } from './deliver.ts'
import { claimInterrupted, hasInterrupted } from './interruptions.ts'
import { createOutcomes } from './outcomes.ts'
import { type QueueHead, queueHeads } from './queue.ts'
import type { Ended } from './record.ts'
import { signedRequest } from './signed-request.ts'
import { createSlowStart } from './slow-start.ts'

export type DispatcherOptions = {
  database: Database
  clock: Clock
  seal: Seal
  sender: Sender
  retry_delays: readonly number[]
  /** Limit of a whole attempt; the lease is longer, so that a living owner never loses it. */
  timeout_ms: number
  /** Called with what went wrong inside the dispatcher itself; it goes on. */
  onError: (error: unknown) => void
}

export type Dispatcher = ReturnType<typeof createDispatcher>

// Commits wake the dispatcher and retries have their timer: polling is only the net below both.
const poll_ms = 1000
const shortest_poll_ms = 100
const longest_rest_ms = 200
const lease_slack_ms = 30_000
// What must be left of a lease, beside the time of an attempt, to write its outcome down.
const lease_rest_ms = 5000
// Another process tells of its commits no sooner.
const soonest_withdrawal_ms = 2
const most_withdrawals = 1000
// Looked at in one round; those beyond it come in the next one.
const most_heads = 200

/** An attempt that this process makes right now. */
type Held = {
  claim: Claim
  started_ms: number
  /** On the process's own clock. */
  held_since: number
  done: Promise<void>
  /** Whether its first byte may go out: null until that is asked. */
  may_start: boolean | null
  /** Set when the webhook is paused or deleted: what is not on its way yet is not sent any more. */
  held_back: boolean
  /** Set when the process ends before the attempt: its outcome is not written down. */
  given_up: boolean
}

/** Sends what is due: claims with leases, fairly across webhooks, and writes every outcome down. */
export function createDispatcher(options: DispatcherOptions) {
  const { database, clock, sender, onError } = options
  const seal = rememberOpened(options.seal)
  const { db } = database
  const lease_ms = options.timeout_ms + lease_slack_ms
  const capacity = createCapacity()
  const slow_start = createSlowStart()
  const { retry_delays } = options
  const outcomes = createOutcomes({ db, clock, retry_delays, refill, onClaims: startAll, onError })
  const held = new Map<string, Held>()
  // When webhooks were paused or deleted, as an id: a claim of before may just be being committed, and must not be sent.
  const withdrawals = new Map<string, string>()
  // Before the start, as in a process that only answers the API, and after the stop: nothing is claimed.
  let running = false
  let pumping: Promise<void> | null = null
  let woken = false
  let last_look_ms = 0
  let rest_until = 0
  let timer: NodeJS.Timeout | undefined

  // Every commit asks for a look, those of the dispatcher itself too: looks may take a fifth of the time. One that is
  // long only once was held up by something else.
  function restAfter(look_ms: number): number {
    const cost_ms = Math.min(look_ms, last_look_ms)
    last_look_ms = look_ms
    return performance.now() + Math.min(4 * cost_ms, longest_rest_ms)
  }

  /** Looks for due deliveries now, or once more when a look is under way. */
  function wake() {
    woken = true
    if (pumping || !running) return
    clearTimeout(timer)
    const rest_ms = rest_until - performance.now()
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

  /** Claims and starts until nothing is due; resolves with the milliseconds after which to look again. */
  async function pump(): Promise<number> {
    while (running) {
      woken = false
      await followWithdrawals()
      if (slow_start.looks() && (await takeInterrupted()) === 'others wait') return poll_ms
      // A webhook without room is looked at again when one of its attempts ends.
      const before = performance.now()
      const most = most_heads + capacity.full()
      const heads = await queueHeads(db, most)
      rest_until = restAfter(performance.now() - before)
      const open = heads.filter(({ webhook_id }) => capacity.free(webhook_id) > 0)
      const elapsed_ms = clock.elapsed()
      const due = open.filter(({ run_at_ms }) => run_at_ms <= elapsed_ms)
      if (due.length && !(await claimAndStart(due))) return shortest_poll_ms
      // All that waits has been seen, so what is due now has no room, and the end of an attempt wakes.
      const later_ms = open.find(({ run_at_ms }) => run_at_ms > elapsed_ms)?.run_at_ms ?? Infinity
      if (!due.length || heads.length < most)
        return Math.min(poll_ms, Math.max(1, later_ms - clock.elapsed()))
    }
    return poll_ms
  }

  /**
   * Takes what a crash interrupted before anything else. While that is attempted one by one, nothing is in flight beside
   * it, so a delivery that ends the process is known by it.
   */
  async function takeInterrupted(): Promise<'others wait' | 'others too'> {
    const some = await hasInterrupted(db, clock.elapsed(), held)
    if (slow_start.found(some)) capacity.narrow()
    if (!some) return 'others too'
    const one_by_one = slow_start.oneByOne()
    const limit = one_by_one ? Number(held.size === 0) : capacity.room()
    if (limit > 0) {
      const { claims, spent } = await transaction(db, (tx) =>
        claimInterrupted(tx, { ...lease(), limit, mine: held }),
      )
      for (const one of spent) await outcomes.write(one, () => !running)
      if (spent.length) wake()
      await startAll(claims)
    }
    return one_by_one ? 'others wait' : 'others too'
  }

  // Another process may have paused or deleted a webhook: what waits for its connection here is held back too.
  async function followWithdrawals(): Promise<void> {
    const since = performance.now() - soonest_withdrawal_ms
    const unsent = [...held.values()].filter(
      ({ may_start, held_since }) => may_start === null && held_since < since,
    )
    if (!unsent.length) return
    const claims = unsent.map(({ claim }) => claim)
    for (const [webhook_id, how] of await withdrawn(db, claims))
      holdBack(webhook_id, how === 'paused' ? 'pings go' : 'pings too')
  }

  function holdBack(webhook_id: string, pings: 'pings go' | 'pings too'): void {
    withdrawals.set(webhook_id, newId('clm'))
    const [oldest] = withdrawals.keys()
    if (oldest !== undefined && withdrawals.size > most_withdrawals) withdrawals.delete(oldest)
    for (const entry of held.values()) {
      if (entry.claim.webhook_id !== webhook_id) continue
      entry.held_back ||= entry.claim.kind !== 'ping' || pings === 'pings too'
    }
  }

  /** Resolves with the number of attempts begun. */
  const claimAndStart = async (due: QueueHead[]): Promise<number> =>
    startAll(await transaction(db, (tx) => claim(tx, due, capacity.free)))

  type Webhooks = Parameters<typeof claimDue>[1]['webhooks']
  type Limit = Parameters<typeof claimDue>[1]['limit']

  const lease = () => ({
    claim_id: newId('clm'),
    moment: momentOf(clock),
    lease_ms,
    fits: capacity.round(),
    idle: held.size === 0,
  })

  const claim = (tx: Db, webhooks: Webhooks, limit: Limit): Promise<Loaded[]> =>
    claimDue(tx, { ...lease(), webhooks, limit })

  // As many for each webhook as have just succeeded there: no look at the queue is needed for that. Where places are few,
  // and where something failed, the usual way decides.
  async function refill(tx: Db, ended: readonly Ended[]): Promise<Loaded[]> {
    if (!running || capacity.crowded()) return []
    const webhooks = new Map<string, { workspace_id: number; webhook_id: string; places: number }>()
    for (const { claim: one, outcome } of ended) {
      const { workspace_id, webhook_id } = one
      const entry = webhooks.get(webhook_id) ?? { workspace_id, webhook_id, places: 0 }
      entry.places += outcome.ok && one.kind !== 'ping' ? 1 : -Infinity
      webhooks.set(webhook_id, entry)
    }
    return claim(tx, [...webhooks.values()], (webhook_id) => webhooks.get(webhook_id)?.places ?? 0)
  }

  /** Starts what is still wanted now that it is committed, and gives the rest back; resolves with how many it began. */
  async function startAll(claims: Loaded[]): Promise<number> {
    const unsent = claims.filter(
      ({ webhook_id, claim_id }) => !running || (withdrawals.get(webhook_id) ?? '') > claim_id,
    )
    for (const one of claims) if (!unsent.includes(one)) void start(one)
    if (unsent.length) await giveBack(unsent).catch(onError)
    return claims.length - unsent.length
  }

  const giveBack = (claims: Claim[]) => transaction(db, (tx) => release(tx, claims, clock.elapsed()))

  function start({ payload, ...one }: Loaded): Promise<void> {
    capacity.taken(one.webhook_id, one.bytes)
    const entry: Held = {
      claim: one,
      started_ms: clock.elapsed(),
      held_since: performance.now(),
      done: Promise.resolve(),
      may_start: null,
      held_back: false,
      given_up: false,
    }
    held.set(one.delivery_id, entry)
    entry.done = attempt(
      entry,
      exchange({ ...one, payload }, () => mayStart(entry)),
    )
      .then((outcome) => capacity.returned(one.webhook_id, outcome, one.bytes))
      .catch((error) => {
        capacity.returned(one.webhook_id, null, one.bytes)
        onError(error)
      })
      .finally(() => {
        held.delete(one.delivery_id)
        wake()
      })
    return entry.done
  }

  /** Resolves with the outcome when it is written down; with null when nothing was sent. */
  async function attempt(entry: Held, exchanged: Promise<AttemptOutcome>): Promise<AttemptOutcome | null> {
    const outcome = await exchanged
    if (entry.given_up) return null
    if (entry.may_start === false) return giveBack([entry.claim]).then(() => null)
    const ended = { claim: entry.claim, outcome, ended: momentOf(clock) }
    return (await outcomes.write(ended, () => entry.given_up)) ? outcome : null
  }

  // A lease that would run out during the attempt is no leave to send: the delivery may be another owner's by then.
  function mayStart(entry: Held): boolean {
    const in_time = clock.elapsed() + options.timeout_ms + lease_rest_ms <= entry.claim.lease_ends_ms
    const may = in_time && !entry.held_back
    entry.may_start ||= may
    return may
  }

  // Neither an async function nor a closure over the payload: both would keep it until the answer comes.
  function exchange(one: Loaded, mayStart: () => boolean): Promise<AttemptOutcome> {
    const started_at_ms = clock.now()
    const failed = notMade(one.url, started_at_ms)
    try {
      const request = signedRequest(one, seal, started_at_ms)
      const sent = sender.send({ ...request, mayStart })
      return sent.then((outcome) => ({ ...outcome, started_at_ms }), failed)
    } catch (error) {
      return Promise.resolve(failed(error))
    }
  }

  // A delivery that cannot even be made must not stop the others, nor be tried for ever.
  const notMade = (url: string, started_at_ms: number) => (error: unknown) => {
    onError(error)
    const failure = {
      code: 'protocol_error' as const,
      message: 'The request could not be made; see the log.',
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
    /** The lease for a delivery that its maker hands to attemptNow. */
    lease: () => ({ claim_id: newId('clm'), ends_ms: clock.elapsed() + lease_ms }),
    /** Attempts one delivery that was made with a lease, beside the queue; resolves when its outcome is written. */
    async attemptNow(workspace_id: number, delivery_id: string): Promise<void> {
      const one = await claimed(db, workspace_id, delivery_id)
      if (one) await start(one)
    },
    /**
     * Sends nothing to a webhook that is claimed, but not on its way yet: it is due again. For the transaction that
     * pauses the webhook (a ping, for which someone waits, still goes) or deletes it.
     */
    holdBack,
    /** Claims no more; waits up to `limit_ms` for the attempts in flight, then gives up the rest, which the log tells. */
    async stop(limit_ms: number): Promise<void> {
      running = false
      clearTimeout(timer)
      await pumping
      let late: NodeJS.Timeout | undefined
      const limit = new Promise<'over'>((resolve) => {
        late = setTimeout(resolve, limit_ms, 'over')
      })
      // Pings, for which requests wait, may still join.
      while (held.size) {
        const all = Promise.allSettled([...held.values()].map(({ done }) => done))
        if ((await Promise.race([limit, all])) === 'over') break
      }
      clearTimeout(late)
      const rest = [...held.values()]
      for (const entry of rest) entry.given_up = true
      // If not even this can be written, the leases run out.
      if (rest.length) await transaction(db, (tx) => interrupt(tx, rest, momentOf(clock))).catch(onError)
    },
    in_flight: () => held.size,
  }
}
