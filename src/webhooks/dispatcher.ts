import type { Clock } from '../clock.ts'
import { type Database, type Db, transaction } from '../db/db.ts'
import { newId } from '../db/ids.ts'
import type { Seal } from '../db/seal.ts'
import { bodyFor } from '../events/emit.ts'
import { createCapacity } from './capacity.ts'
import type { AttemptOutcome, Sender } from './deliver.ts'
import { type Claim, claimDue, claimed, dueWebhooks, nextDue, record, release } from './queue.ts'
import { signingSecrets } from './secrets.ts'
import { signatureHeaders } from './signature.ts'

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
const lease_slack_ms = 30_000

/** Sends what is due: claims with leases, fairly across webhooks, and writes every outcome down. */
export function createDispatcher(options: DispatcherOptions) {
  const { database, clock, seal, sender, onError } = options
  const { db } = database
  const lease_ms = options.timeout_ms + lease_slack_ms
  const capacity = createCapacity()
  const held = new Map<string, { claim: Claim; done: Promise<void> }>()
  let stopped = false
  let pumping = false
  let woken = false
  let timer: NodeJS.Timeout | undefined

  /** Looks for due deliveries now, or once more when a look is under way. */
  function wake() {
    woken = true
    if (pumping || stopped) return
    pumping = true
    clearTimeout(timer)
    pump()
      .catch(onError)
      .finally(async () => {
        pumping = false
        if (stopped) return
        if (woken) return setImmediate(wake)
        timer = setTimeout(wake, await untilNext())
      })
  }

  async function pump() {
    while (woken && !stopped) {
      woken = false
      const wanted = (await dueWebhooks(db, clock.now())).map((due) => ({
        ...due,
        limit: capacity.free(due.webhook_id),
      }))
      const possible = wanted.filter((due) => due.limit > 0)
      if (!possible.length) return
      const claims = await transaction(db, async (tx) => {
        const all: Claim[] = []
        let room = capacity.total()
        for (const { webhook_id, workspace_id, limit } of possible) {
          if (room <= 0) break
          all.push(...(await claim(tx, webhook_id, workspace_id, Math.min(limit, room))))
          room = capacity.total() - all.length
        }
        return all
      })
      for (const one of claims) start(one)
      // A full round may have left more behind.
      if (claims.length) woken = true
    }
  }

  const claim = (tx: Db, webhook_id: string, workspace_id: number, limit: number) =>
    claimDue(tx, {
      webhook_id,
      workspace_id,
      limit,
      now_ms: clock.now(),
      lease_ms,
      claim_id: newId('dlv'),
      held: new Set(held.keys()),
    })

  async function untilNext(): Promise<number> {
    const next = await nextDue(db).catch(() => null)
    // A webhook without free capacity is woken by its own attempts; do not spin on what it has due.
    return next === null
      ? poll_ms
      : Math.min(poll_ms, Math.max(next - clock.now(), held.size ? poll_ms / 10 : 1))
  }

  function start(one: Claim): Promise<void> {
    capacity.taken(one.webhook_id)
    const done = attempt(one)
      .then((outcome) => capacity.returned(one.webhook_id, outcome))
      .catch((error) => {
        capacity.returned(one.webhook_id, null)
        onError(error)
      })
      .finally(() => {
        held.delete(one.delivery_id)
        wake()
      })
    held.set(one.delivery_id, { claim: one, done })
    return done
  }

  async function attempt(one: Claim): Promise<AttemptOutcome> {
    const outcome = await send(one)
    const ended_ms = clock.now()
    // What the receiver was told must be written down: try again while the database is away.
    for (let tries = 1; ; tries++) {
      try {
        const { retry_delays } = options
        await transaction(db, (tx) => record(tx, one, outcome, { ended_ms, retry_delays }))
        return outcome
      } catch (error) {
        if (stopped || tries === 20) throw error
        onError(error)
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
  }

  async function send(one: Claim): Promise<AttemptOutcome> {
    const started_at_ms = clock.now()
    try {
      const body = bodyFor(one.payload, one.webhook_id)
      const headers = {
        'Content-Type': 'application/json',
        'X-Service-Event': one.event,
        'X-Service-Delivery': one.delivery_id,
        ...signatureHeaders({
          secrets: signingSecrets(one, seal, started_at_ms),
          delivery_id: one.delivery_id,
          timestamp: Math.floor(started_at_ms / 1000),
          body,
        }),
      }
      return { ...(await sender.send({ url: one.url, headers, body })), started_at_ms }
    } catch (error) {
      // A delivery that cannot even be made must not stop the others, nor be tried for ever.
      onError(error)
      const failure = {
        code: 'protocol_error' as const,
        message: 'The request could not be made; see the log.',
      }
      const request = { url: one.url, headers: {}, body: '' }
      return { started_at_ms, duration_ms: 0, request, response: null, error: failure, ok: false }
    }
  }

  return {
    start() {
      database.onCommit(wake)
      wake()
    },
    wake,
    /** The lease for a delivery that its maker hands to attemptNow. */
    lease: () => ({ claim_id: newId('dlv'), ends_ms: clock.now() + lease_ms }),
    /** Attempts one delivery that was made with a lease, beside the queue; resolves when its outcome is written. */
    async attemptNow(workspace_id: number, delivery_id: string): Promise<void> {
      const [one] = await claimed(db, workspace_id, [delivery_id])
      if (one) await start(one)
    },
    /** Claims no more; waits up to `limit_ms` for the attempts in flight and gives back the leases of the rest. */
    async stop(limit_ms: number): Promise<void> {
      stopped = true
      clearTimeout(timer)
      const all = Promise.allSettled([...held.values()].map(({ done }) => done))
      let late: NodeJS.Timeout | undefined
      await Promise.race([
        all,
        new Promise((resolve) => {
          late = setTimeout(resolve, limit_ms)
        }),
      ])
      clearTimeout(late)
      const rest = [...held.values()].map((one) => one.claim)
      if (rest.length) await transaction(db, (tx) => release(tx, rest, clock.now()))
    },
    in_flight: () => held.size,
  }
}
