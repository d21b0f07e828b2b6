import { type Clock, momentOf } from '../../clock.ts'
import { type Database, type Tx, transaction } from '../../db/db.ts'
import { newId } from '../../db/ids.ts'
import type { Seal } from '../../db/seal.ts'
import { bodyFor } from '../../events/emit.ts'
import type { Tracer } from '../../telemetry/tracer.ts'
import { cacheOpened } from '../registration/secrets.ts'
import type { BuildBody } from './bodies.ts'
import { createCapacity } from './capacity.ts'
import type { DueWebhook, Wanted } from './choose.ts'
import { claimDue, claimed, type LoadedClaim, lease_slack_ms } from './claim.ts'
import type { Sender } from './deliver.ts'
import { exchange } from './exchange.ts'
import { createHeldClaims } from './held-claims.ts'
import type { BlockingDelivery } from './in-order.ts'
import { claimInterrupted, hasInterrupted } from './interruptions.ts'
import { createOutcomes } from './outcomes.ts'
import { createPolls, poll_ms } from './polls.ts'
import { type QueueHead, queueHeads } from './queue.ts'
import type { Ended } from './record.ts'
import { createSlowStart } from './slow-start.ts'

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

const min_poll_ms = 100
// The queue heads that one poll reads. The next poll reads the rest.
const max_queue_heads = 200

//  commit, timer ─▶ polls ─▶ poll ─▶ claim ─▶ held claims ─▶ exchange ─▶ outcomes ─▶ refill
//                     ▲       └─ after a crash: interrupted ─▶ │ ▲                      │
//                     └──────── an attempt has ended ──────────┘ └── the next claims ───┘
//  holdBack, by a request or by another process ─▶ held claims that have sent nothing: due again
//  capacity: how many deliveries of each webhook may be held, and how many bytes

/** Sends due deliveries: claims them with leases, fairly across webhooks, and writes every outcome. */
export function createDispatcher(options: DispatcherOptions) {
  const { database, clock, tracer, timeout_ms, retry_delays, onError } = options
  const { db } = database
  const lease_ms = timeout_ms + lease_slack_ms
  const capacity = createCapacity()
  const slow_start = createSlowStart()
  const polls = createPolls({ poll, onError })
  const { wake, running } = polls
  const exchanging = { ...options, seal: cacheOpened(options.seal), buildBody: options.buildBody ?? bodyFor }
  const onClaims = (claims: LoadedClaim[]) => startAll(claims)
  const { write } = createOutcomes({ db, clock, retry_delays, refill, onClaims, onError })
  const { held, startAll, ...attempts } = createHeldClaims({
    ...{ db, clock, capacity, timeout_ms, tracer, write, running, wake, onError },
    send: (claim, mayStart) => exchange(exchanging, claim, mayStart),
  })

  /** Claims and starts deliveries until none is due. Resolves with the milliseconds until the next poll. */
  async function poll(): Promise<number> {
    while (running()) {
      polls.begin()
      await attempts.followWithdrawals()
      if (slow_start.isPollDue() && (await takeInterrupted()) === 'others wait') return poll_ms
      // Full webhooks stay in the result, so read as many heads more.
      const before = performance.now()
      const max_heads = max_queue_heads + capacity.full()
      const heads = await queueHeads(db, max_heads)
      polls.restAfter(performance.now() - before)
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
      for (const ended of spent) await write(ended, () => !running())
      if (spent.length) wake()
      await startAll(claims)
    }
    return one_by_one ? 'others wait' : 'others too'
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
    if (!running() || capacity.crowded()) return []
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

  return {
    start() {
      database.onCommit('deliveries', wake)
      polls.start()
    },
    wake,
    /** A lease for a new delivery that the caller passes to attemptNow. `own_ms` is the timeout of its webhook. */
    lease: (own_ms: number | null) => ({
      claim_id: newId('clm'),
      ends_ms: clock.elapsed() + (own_ms ?? timeout_ms) + lease_slack_ms,
    }),
    /** Attempts a delivery that was created with a lease, past the queue. Resolves when its outcome is written. */
    async attemptNow(workspace_id: number, delivery_id: string): Promise<void> {
      const loaded = await claimed(db, workspace_id, delivery_id)
      if (loaded) await attempts.start(loaded)
    },
    /**
     * Stops the claimed attempts of a webhook that have not sent their first byte; their deliveries are due again. Call
     * it in the transaction that pauses or deletes the webhook, and again after its commit. A pause lets pings pass, because a
     * request waits for them.
     */
    holdBack: attempts.holdBack,
    /** Stops claiming. Waits up to `limit_ms` for attempts in flight, then logs the rest as interrupted. */
    async stop(limit_ms: number): Promise<void> {
      await polls.stop()
      await attempts.end(limit_ms)
    },
    in_flight: () => held.size,
    /** Calls the listener for each attempt that has ended, for /metrics. */
    onAttempt: attempts.onAttempt,
  }
}
