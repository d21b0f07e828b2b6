import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { troubleOf } from '../../db/errors.ts'
import { engineOf } from '../../db/tx.ts'
import type { LoadedClaim } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'
import type { BlockingDelivery } from './in-order.ts'
import { type Ended, record } from './record.ts'

type Options = {
  db: Db
  clock: Clock
  retry_delays: readonly number[]
  /** Claims the next deliveries in place of the ended attempts, in the transaction that writes their outcomes. */
  refill: (tx: Tx, ended: readonly Ended[], unblocking: readonly BlockingDelivery[]) => Promise<LoadedClaim[]>
  /** Called with these claims after the commit, before the slots of the ended attempts are released. */
  onClaims: (claims: LoadedClaim[]) => Promise<unknown>
  /** Called with each error of a write. The write is retried. */
  onError: (error: unknown) => void
}

type Waiting = {
  ended: Ended
  givenUp: () => boolean
  settle: (written: boolean) => void
  /** The database refused this outcome even in a transaction of its own. */
  refused?: true
}

// A larger batch keeps its transaction open longer and saves no more commits.
const max_batch = 256
const max_turns = 20
const min_pause_ms = 250
const max_pause_ms = 1000

export type Outcomes = ReturnType<typeof createOutcomes>

/**
 * Writes outcomes, many in one transaction. Outcomes that arrive while no transaction can begin share the next one. An
 * outcome that arrives alone is written at once.
 */
export function createOutcomes(options: Options) {
  const { db, clock, retry_delays, onError } = options
  // With one, PostgreSQL waits while this process sends requests, and this process while PostgreSQL writes.
  const most_writers = engineOf(db) === 'sqlite' ? 1 : 2
  const waiting: Waiting[] = []
  let writers = 0
  let collecting = false

  async function writeAll(): Promise<void> {
    writers++
    while (waiting.length && !collecting) {
      collecting = true
      await collect()
      collecting = false
      await writeTogether(waiting.splice(0, max_batch))
    }
    writers--
  }

  // Waits while each turn of the event loop adds an outcome, at most 20 turns. So they share a commit.
  async function collect(): Promise<void> {
    for (let turns = 0, before = 0; turns < max_turns && waiting.length > before; turns++) {
      before = waiting.length
      await new Promise(setImmediate)
    }
  }

  // Outcomes and the next claims share one transaction, which saves a commit.
  async function write(batch: readonly Waiting[]): Promise<void> {
    const ended = batch.map((entry) => entry.ended)
    const claims = await transaction(db, async (tx) => {
      const unblocking = await record(tx, ended, retry_delays)
      return options.refill(tx, ended, unblocking)
    })
    await options.onClaims(claims)
    for (const entry of batch) entry.settle(true)
  }

  // The receivers have already answered, so retry until the process ends, however long the database is unavailable. An
  // ended lease is safe: record() writes an outcome only for a lease that this process still holds.
  async function writeTogether(batch: readonly Waiting[]): Promise<void> {
    for (let pause_ms = min_pause_ms; ; pause_ms = Math.min(2 * pause_ms, max_pause_ms)) {
      const wanted = batch.filter((entry) => !dropIfGivenUp(entry))
      if (!wanted.length) return
      try {
        return await write(wanted)
      } catch (error) {
        onError(error)
        if (!troubleOf(error)) {
          // Write one by one, so that an outcome that the database refuses does not stop the others.
          for (const entry of wanted) await writeAlone(entry)
          return
        }
        await pause(pause_ms, undefined, { ref: false })
      }
    }
  }

  async function writeAlone(entry: Waiting): Promise<void> {
    while (!dropIfGivenUp(entry)) {
      try {
        return await write([entry])
      } catch (error) {
        onError(error)
        if (!troubleOf(error) && !entry.refused) {
          entry.refused = true
          entry.ended = { ...entry.ended, outcome: withoutAnswer(entry.ended) }
          continue
        }
        // Refused even without the answer. Retry until the lease ends; the next owner then attempts the delivery again.
        if (!troubleOf(error) && clock.elapsed() >= entry.ended.claim.lease_ends_ms)
          return entry.settle(false)
        await pause(min_pause_ms, undefined, { ref: false })
      }
    }
  }

  function dropIfGivenUp(entry: Waiting): boolean {
    if (entry.givenUp()) entry.settle(false)
    return entry.givenUp()
  }

  return {
    /**
     * Resolves with true when the outcome is written, or its lease is lost and it must not be written. Resolves with
     * false when it will never be written. `givenUp` is called before each try.
     */
    write(ended: Ended, givenUp: () => boolean): Promise<boolean> {
      return new Promise((settle) => {
        waiting.push({ ended, givenUp, settle })
        if (!collecting && writers < most_writers) void writeAll()
      })
    },
  }
}

// An attempt whose answer the database refuses still counts. Otherwise the delivery would be retried without end.
function withoutAnswer({ outcome, claim }: Ended): AttemptOutcome {
  const { response, error } = outcome
  const message = "The answer could not be stored. See the service's log."
  return {
    ...outcome,
    request: { url: claim.url, headers: {} },
    response: response && { status: response.status, headers: {}, body: '' },
    error: error && { code: error.code, message },
  }
}
