import type { Clock } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { hashToken } from '../../db/token-hash.ts'
import { ApiError } from '../../errors.ts'
import { type FailureRow, lockFailures, readFailures, removeFailures, updateFailures } from './failures.ts'
import { emailKey } from './users.ts'

// The first failures are free. Each further one doubles the wait, up to the longest. An office may share one address, and
// its people may sign in at the same time. So a try counts as a failure until it turns out to be right.
const free_failures = { own: 5, address: 100, email_changes: 10 }
/** Failures that an address has for an e-mail in a day, whatever happens at other addresses. */
export const max_pair_failures = 10
const first_wait_ms = 30_000
export const longest_wait_ms = 15 * 60_000
/** Older failures do not count. */
export const remembered_ms = 24 * 3600 * 1000

/** The wait after this number of failures, in ms. */
export const waitAfter = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longest_wait_ms, first_wait_ms * 2 ** Math.min(failures - free, 20))

/** The address of a try, and the e-mail that it is for. */
type Stranger = { address: string; email: string }

/** A row of failures, and the wait after a number of them, in ms. */
type Counter = { name: string; wait: (failures: number) => number }
type CountedFailure = { counter: Counter; before: FailureRow; after: FailureRow }

const doubling = (free: number) => (failures: number) => waitAfter(failures, free)
const counterOfAddress = (address: string): Counter => ({
  name: `address ${address}`,
  wait: doubling(free_failures.address),
})
// Store hashes of e-mails only: a person may type the password into the field of the e-mail.
const counterOfPair = ({ address, email }: Stranger): Counter => ({
  name: `pair ${hashToken(`${address} ${emailKey(email)}`)}`,
  wait: doubling(free_failures.own),
})
// For all addresses together that have reached `max_pair_failures` for the e-mail.
const counterOfEmail = (email: string): Counter => ({
  name: `email ${hashToken(emailKey(email))}`,
  wait: () => longest_wait_ms,
})

/**
 * The result of a check. 'shared': the password is right for one of several accounts of the e-mail. It counts as a
 * failure. Otherwise, the owner of one account could learn the password of another.
 */
export type Finding = boolean | 'shared'

export type Throttle = ReturnType<typeof createThrottle>

/**
 * Counts failed tries of passwords and links in the database, for all processes. A stranger's tries count by address,
 * and by address and e-mail together, so they do not lock out the owner. Addresses with `max_pair_failures` for an
 * e-mail share one slow pace, so that many addresses get few guesses.
 */
export function createThrottle(db: Db, clock: Clock) {
  const withoutWait = (counter: Counter) =>
    readFailures(db, [counter.name]).then((rows) => refuseDuringWait(clock, rows.get(counter.name)))

  return {
    /** Removes the failures of an address for an e-mail, after its person has proven to own the account. */
    async forget(tx: Tx, stranger: Stranger): Promise<void> {
      await removeFailures(tx, counterOfPair(stranger).name)
    },

    /** Whether the check of a stranger's password is right. Throws 429 with Retry-After during a wait. */
    async prove(stranger: Stranger, check: () => Promise<Finding>): Promise<boolean> {
      const address = counterOfAddress(stranger.address)
      const pair = counterOfPair(stranger)
      const email = counterOfEmail(stranger.email)
      await refuseStranger(db, clock, { address, pair, email })
      // Always in this order, so that concurrent tries cannot deadlock.
      const begin = async (tx: Tx) => {
        const by_address = await countFailure(tx, clock, address)
        const by_pair = await countFailure(tx, clock, pair)
        if (by_pair.after.failures <= max_pair_failures) return [by_address, by_pair]
        return [by_address, by_pair, await countFailure(tx, clock, email)]
      }
      return runCounted(db, clock, begin, pair, check)
    },

    /** Like `prove`, for a known browser or a session, by its id. Tries from elsewhere do not count. */
    async proveIdentified(id: string, check: () => Promise<boolean>): Promise<boolean> {
      const own = { name: `own ${id}`, wait: doubling(free_failures.own) }
      await withoutWait(own)
      return runCounted(db, clock, async (tx) => [await countFailure(tx, clock, own)], own, check)
    },

    /** Returns what `find` finds for the token of a link. An unknown token is a failure. Throws 429 during a wait. */
    async checkLink<T>(address: string, find: (db: Db) => Promise<T>): Promise<T> {
      const counter = counterOfAddress(address)
      await withoutWait(counter)
      const found = await find(db)
      if (!found) await transaction(db, (tx) => countFailure(tx, clock, counter))
      return found
    },

    /** Counts a change of a person's e-mail, also a refused one: refusals show which e-mails have an account. */
    countEmailChange: (user_id: string): Promise<unknown> =>
      transaction(db, (tx) =>
        countFailure(tx, clock, { name: `moves ${user_id}`, wait: doubling(free_failures.email_changes) }),
      ),
  }
}

/**
 * Runs a check, and returns whether it is right. The try counts as a failure before the check, so that concurrent tries
 * get no more than sequential ones. A right check takes its failures back and removes the row of `own`. An error of the
 * check takes the failures back too.
 */
async function runCounted(
  db: Db,
  clock: Clock,
  begin: (tx: Tx) => Promise<CountedFailure[]>,
  own: Counter,
  check: () => Promise<Finding>,
): Promise<boolean> {
  const counted = await transaction(db, begin)
  const undo = (right: boolean) =>
    transaction(db, async (tx) => {
      for (const failure of counted) {
        if (right && failure.counter.name === own.name) await removeFailures(tx, own.name)
        else await undoFailure(tx, clock, failure)
      }
    })
  const found = await check().catch(async (error) => {
    await undo(false)
    throw error
  })
  if (found === true) await undo(true)
  return found !== false
}

function refuseDuringWait(clock: Clock, row: FailureRow | undefined): void {
  const wait_ms = (row?.blocked_until_ms ?? 0) - clock.elapsed()
  if (wait_ms <= 0) return
  const seconds = Math.ceil(wait_ms / 1000)
  throw new ApiError('rate_limited', `Too many tries. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

const failuresOf = (clock: Clock, { failures, last_at_ms }: FailureRow): number =>
  clock.elapsed() - last_at_ms > remembered_ms ? 0 : failures

/** Throws 429 during a wait. It only reads, so a flood of refused tries writes nothing. */
async function refuseStranger(
  db: Db,
  clock: Clock,
  { address, pair, email }: { address: Counter; pair: Counter; email: Counter },
): Promise<void> {
  const rows = await readFailures(db, [address.name, pair.name, email.name])
  refuseDuringWait(clock, rows.get(address.name))
  const own = rows.get(pair.name)
  refuseDuringWait(clock, own)
  if (own && failuresOf(clock, own) >= max_pair_failures) refuseDuringWait(clock, rows.get(email.name))
}

/** Counts a failure. Throws 429 during a wait. Returns the row before and after. */
async function countFailure(tx: Tx, clock: Clock, counter: Counter): Promise<CountedFailure> {
  const before = await lockFailures(tx, counter.name, clock.elapsed())
  refuseDuringWait(clock, before)
  const now_ms = clock.elapsed()
  const failures = failuresOf(clock, before) + 1
  const after = { failures, last_at_ms: now_ms, blocked_until_ms: now_ms + counter.wait(failures) }
  await updateFailures(tx, counter.name, after)
  return { counter, before, after }
}

/** Takes one failure back. Changes by concurrent tries stay. */
async function undoFailure(tx: Tx, clock: Clock, { counter, before, after }: CountedFailure): Promise<void> {
  const current = await lockFailures(tx, counter.name, clock.elapsed())
  const failures = Math.max(0, current.failures - 1)
  const own_wait = current.blocked_until_ms === after.blocked_until_ms
  const blocked_until_ms = own_wait ? before.blocked_until_ms : current.blocked_until_ms
  await updateFailures(tx, counter.name, {
    failures,
    // Restore the time of the last failure: a right try must not extend the memory of older ones.
    last_at_ms: current.last_at_ms === after.last_at_ms ? before.last_at_ms : current.last_at_ms,
    blocked_until_ms: counter.wait(failures) ? blocked_until_ms : 0,
  })
}
