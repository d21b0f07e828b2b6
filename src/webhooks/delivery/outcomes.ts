import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { troubleOf } from '../../db/errors.ts'
import type { Loaded } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'
import { type Ended, record } from './record.ts'

type Options = {
  db: Db
  clock: Clock
  retry_delays: readonly number[]
  /** Claims what takes the place of attempts that ended, in the transaction that writes them down. */
  refill: (tx: Db, ended: readonly Ended[]) => Promise<Loaded[]>
  /** Called with these claims when they are committed, before the places of what ended are given back. */
  onClaims: (claims: Loaded[]) => Promise<unknown>
  /** Called with whatever kept an outcome from being written; it is tried again. */
  onError: (error: unknown) => void
}

type Waiting = {
  ended: Ended
  givenUp: () => boolean
  settle: (written: boolean) => void
  /** The database took it not even alone. */
  refused?: true
}

// More at once would keep a transaction open for long, and gain nothing any more.
const largest_batch = 256
const most_turns = 20
const shortest_pause_ms = 250
const longest_pause_ms = 1000

export type Outcomes = ReturnType<typeof createOutcomes>

/**
 * Writes outcomes down, many in one transaction: those that end while one is under way wait for the next. So a commit
 * is shared by as many as there are, and one that comes alone waits for nobody.
 */
export function createOutcomes(options: Options) {
  const { db, clock, retry_delays, onError } = options
  const waiting: Waiting[] = []
  let writing = false

  async function writeAll(): Promise<void> {
    while (waiting.length) {
      await arrivals()
      await writeTogether(waiting.splice(0, largest_batch))
    }
    writing = false
  }

  // As long as each turn of the event loop brings another one, they come in a crowd that shares a commit.
  async function arrivals(): Promise<void> {
    for (let turns = 0, before = 0; turns < most_turns && waiting.length > before; turns++) {
      before = waiting.length
      await new Promise(setImmediate)
    }
  }

  // A round that is written down and claimed in one transaction costs one commit instead of two.
  async function write(all: readonly Waiting[]): Promise<void> {
    const ended = all.map((one) => one.ended)
    const claims = await transaction(db, async (tx) => {
      await record(tx, ended, retry_delays)
      return options.refill(tx, ended)
    })
    await options.onClaims(claims)
    for (const one of all) one.settle(true)
  }

  // What the receivers were told must be written down, so this ends only with the process, however long the database is
  // away. Nothing is lost by it if the leases run out meanwhile: only what is still ours is written.
  async function writeTogether(batch: readonly Waiting[]): Promise<void> {
    for (let rest_ms = shortest_pause_ms; ; rest_ms = Math.min(2 * rest_ms, longest_pause_ms)) {
      const all = batch.filter((one) => !dropped(one))
      if (!all.length) return
      try {
        return await write(all)
      } catch (error) {
        onError(error)
        if (!troubleOf(error)) {
          // One that the database refuses must not stop the others.
          for (const one of all) await writeAlone(one)
          return
        }
        await pause(rest_ms, undefined, { ref: false })
      }
    }
  }

  async function writeAlone(one: Waiting): Promise<void> {
    while (!dropped(one)) {
      try {
        return await write([one])
      } catch (error) {
        onError(error)
        if (!troubleOf(error) && !one.refused) {
          one.refused = true
          one.ended = { ...one.ended, outcome: withoutAnswer(one.ended) }
          continue
        }
        // Not even that: whoever has the lease next may have more luck.
        if (!troubleOf(error) && clock.elapsed() >= one.ended.claim.lease_ends_ms) return one.settle(false)
        await pause(shortest_pause_ms, undefined, { ref: false })
      }
    }
  }

  function dropped(one: Waiting): boolean {
    if (one.givenUp()) one.settle(false)
    return one.givenUp()
  }

  return {
    /**
     * Resolves with true when the outcome is written down (or, by a lease that is gone, must not be), with false when it
     * never will be. `givenUp` is asked before each try.
     */
    write(ended: Ended, givenUp: () => boolean): Promise<boolean> {
      return new Promise((settle) => {
        waiting.push({ ended, givenUp, settle })
        if (writing) return
        writing = true
        void writeAll()
      })
    },
  }
}

// An answer that cannot be kept is still an attempt that counts: else it would be asked for again for ever.
function withoutAnswer({ outcome, claim }: Ended): AttemptOutcome {
  const { response, error } = outcome
  const message = 'The answer could not be written down; see the log.'
  return {
    ...outcome,
    request: { url: claim.url, headers: {} },
    response: response && { status: response.status, headers: {}, body: '' },
    error: error && { code: error.code, message },
  }
}
