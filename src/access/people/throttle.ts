import type { Clock } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { hashToken } from '../../http/auth.ts'
import { ApiError } from '../../http/errors.ts'
import { emailKey } from './users.ts'

// The first tries cost nothing; each one more doubles the wait, up to the longest. Behind one address may be a whole
// office, whose people sign in at the same time: tries count until they turn out to be right.
const free = { own: 5, address: 100, moves: 10 }
/** Wrong tries that an address has for an e-mail in a day, whatever happens at other addresses. */
export const own_tries = 10
const first_wait_ms = 30_000
export const longest_wait_ms = 15 * 60_000
/** Failures of so long ago are forgotten. */
export const remembered_ms = 24 * 3600 * 1000

/** The wait after so many failures, in ms. */
export const waitAfter = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longest_wait_ms, first_wait_ms * 2 ** Math.min(failures - free, 20))

/** Where a try comes from, and whom it is for. */
export type Stranger = { address: string; email: string }

type Counted = { name: string; wait: (failures: number) => number }
type Row = { failures: number; last_at_ms: number; blocked_until_ms: number }
type Count = { counted: Counted; before: Row; after: Row }

const doubling = (free: number) => (failures: number) => waitAfter(failures, free)
const ofAddress = (address: string): Counted => ({ name: `address ${address}`, wait: doubling(free.address) })
// A typing error may put a password into the field of the e-mail: what is kept shows nothing of it.
const ofPair = ({ address, email }: Stranger): Counted => ({
  name: `pair ${hashToken(`${address} ${emailKey(email)}`)}`,
  wait: doubling(free.own),
})
// What all addresses share that have used up their own tries.
const ofEmail = (email: string): Counted => ({
  name: `email ${hashToken(emailKey(email))}`,
  wait: () => longest_wait_ms,
})

/**
 * What a check finds: right, wrong, or 'shared': right, but for one of several accounts of the e-mail. Whoever made one of
 * them knows its password, and learns by it whether another one has the same: so it is a guess like any other.
 */
export type Finding = boolean | 'shared'

export type Throttle = ReturnType<typeof createThrottle>

/**
 * Counts tries of passwords and links in the database: for all processes. A stranger's tries count by the address, and by
 * the address and the e-mail together, so that nobody's tries keep out who comes from elsewhere. An address with
 * `own_tries` failures for an e-mail goes on at a pace that all such addresses share: so many addresses give few guesses.
 */
export function createThrottle(db: Db, clock: Clock) {
  const rowOf = (tx: Db, name: string) =>
    tx
      .insertInto('sign_in_failures')
      .values({ name, failures: 0, last_at_ms: clock.elapsed(), blocked_until_ms: 0 })
      // Changes nothing, but keeps the row for this transaction and tells it.
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
      .returning(['failures', 'last_at_ms', 'blocked_until_ms'])
      .executeTakeFirstOrThrow()

  async function read(names: string[]): Promise<Map<string, Row>> {
    const rows = await db
      .selectFrom('sign_in_failures')
      .select(['name', 'failures', 'last_at_ms', 'blocked_until_ms'])
      .where('name', 'in', names)
      .execute()
    return new Map(rows.map((row) => [row.name, row]))
  }

  function refuseDuringWait(row: Row | undefined): void {
    const wait_ms = (row?.blocked_until_ms ?? 0) - clock.elapsed()
    if (wait_ms > 0) throw tooMany(wait_ms)
  }

  const failuresOf = ({ failures, last_at_ms }: Row): number =>
    clock.elapsed() - last_at_ms > remembered_ms ? 0 : failures

  /** Refuses a stranger's try by a read alone: a flood of refused tries writes nothing. */
  async function refuseStranger(address: Counted, pair: Counted, email: Counted): Promise<void> {
    const rows = await read([address.name, pair.name, email.name])
    refuseDuringWait(rows.get(address.name))
    const own = rows.get(pair.name)
    refuseDuringWait(own)
    if (own && failuresOf(own) >= own_tries) refuseDuringWait(rows.get(email.name))
  }

  /** Counts a failure; 429 during a wait. Returns what it has found and what it has made of it. */
  async function count(tx: Db, counted: Counted): Promise<Count> {
    const before = await rowOf(tx, counted.name)
    refuseDuringWait(before)
    const now = clock.elapsed()
    const failures = failuresOf(before) + 1
    const after = { failures, last_at_ms: now, blocked_until_ms: now + counted.wait(failures) }
    await tx.updateTable('sign_in_failures').set(after).where('name', '=', counted.name).execute()
    return { counted, before, after }
  }

  /** Takes one failure back. What other tries have made of the row meanwhile stays. */
  async function takeBack(tx: Db, { counted, before, after }: Count): Promise<void> {
    const { failures, last_at_ms, blocked_until_ms } = await rowOf(tx, counted.name)
    const left = Math.max(0, failures - 1)
    const blocked = blocked_until_ms === after.blocked_until_ms ? before.blocked_until_ms : blocked_until_ms
    await tx
      .updateTable('sign_in_failures')
      .set({
        failures: left,
        // Of the last failure: a right try must not keep older ones in mind.
        last_at_ms: last_at_ms === after.last_at_ms ? before.last_at_ms : last_at_ms,
        blocked_until_ms: counted.wait(left) ? blocked : 0,
      })
      .where('name', '=', counted.name)
      .execute()
  }

  const forgetRow = (tx: Db, { name }: Counted) =>
    tx.deleteFrom('sign_in_failures').where('name', '=', name).execute()

  /**
   * Whether the check is right. The try is counted as a failure before, so that many at once get no more tries than one
   * after the other. It is taken back as soon as it turns out to be right, whatever else is wrong with the request, and
   * when the check itself fails: nothing was learnt by it. A right try also forgets the failures of its own rows. A shared
   * one stays counted.
   */
  async function tried(
    begin: (tx: Db) => Promise<Count[]>,
    own: Counted,
    check: () => Promise<Finding>,
  ): Promise<boolean> {
    const counts = await transaction(db, begin)
    const undo = (right: boolean) =>
      transaction(db, async (tx) => {
        for (const one of counts) {
          if (right && one.counted.name === own.name) await forgetRow(tx, one.counted)
          else await takeBack(tx, one)
        }
      })
    const found = await check().catch(async (error) => {
      await undo(false)
      throw error
    })
    if (found === true) await undo(true)
    return found !== false
  }

  return {
    /** Forgets what a stranger has failed for an e-mail from an address: they have shown that it is theirs. */
    async forget(tx: Db, stranger: Stranger): Promise<void> {
      await forgetRow(tx, ofPair(stranger))
    },

    /** Whether a stranger's password is right, by the check; 429 with Retry-After during a wait. */
    async prove(stranger: Stranger, check: () => Promise<Finding>): Promise<boolean> {
      const [address, pair, email] = [ofAddress(stranger.address), ofPair(stranger), ofEmail(stranger.email)]
      await refuseStranger(address, pair, email)
      // One order for all, so that no two wait for each other.
      const begin = async (tx: Db) => {
        const from = await count(tx, address)
        const own = await count(tx, pair)
        if (own.after.failures <= own_tries) return [from, own]
        return [from, own, await count(tx, email)]
      }
      return tried(begin, pair, check)
    },

    /** The same for who has shown who they are, as a known browser or a session does: nobody else's tries count there. */
    async proveOwn(id: string, check: () => Promise<boolean>): Promise<boolean> {
      const own = { name: `own ${id}`, wait: doubling(free.own) }
      refuseDuringWait((await read([own.name])).get(own.name))
      return tried(async (tx) => [await count(tx, own)], own, check)
    },

    /** Looks what a link is for, and counts a failure of the address when nobody ever made it; 429 during a wait. */
    async openLink<T>(address: string, find: (db: Db) => Promise<T>): Promise<T> {
      const from = ofAddress(address)
      refuseDuringWait((await read([from.name])).get(from.name))
      const found = await find(db)
      if (!found) await transaction(db, (tx) => count(tx, from))
      return found
    },

    /** Counts that a person wants another e-mail, whether or not it is free: by that one could ask who has an account. */
    countMove: (user_id: string): Promise<unknown> =>
      transaction(db, (tx) => count(tx, { name: `moves ${user_id}`, wait: doubling(free.moves) })),
  }
}

function tooMany(wait_ms: number): ApiError {
  const seconds = Math.ceil(wait_ms / 1000)
  return new ApiError('rate_limited', `Too many tries. Try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** Removes up to `limit` failures that are remembered no longer; returns how many. */
export async function removeOldFailures(tx: Db, now_ms: number, limit: number): Promise<number> {
  const over = now_ms - remembered_ms
  const old = await tx
    .selectFrom('sign_in_failures')
    .select('name')
    .where('last_at_ms', '<', over)
    .limit(limit)
    .execute()
  const names = old.map(({ name }) => name)
  if (names.length)
    await tx
      .deleteFrom('sign_in_failures')
      .where('name', 'in', names)
      .where('last_at_ms', '<', over)
      .execute()
  return old.length
}
