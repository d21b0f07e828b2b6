import type { Clock } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { hashToken } from '../http/auth.ts'
import { ApiError } from '../http/errors.ts'
import { emailKey } from './users.ts'

// So many cost nothing; each one more doubles the wait, up to the longest. Behind one address may be a whole office, whose
// people sign in at the same time: tries count until they turn out to be right.
const free = { email: 5, address: 100, moves: 10 }
const first_wait_ms = 30_000
const longest_wait_ms = 15 * 60_000
/** Failures of so long ago are forgotten. */
export const remembered_ms = 24 * 3600 * 1000

type Counted = { name: string; free: number }

/** The wait after so many failures, in ms. */
export const waitAfter = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longest_wait_ms, first_wait_ms * 2 ** Math.min(failures - free, 20))

// A typing error may put a password into the field of the e-mail: what is kept shows nothing of it.
const nameOfEmail = (email: string) => `email ${hashToken(emailKey(email))}`
const ofEmail = (email: string): Counted => ({ name: nameOfEmail(email), free: free.email })
const ofAddress = (address: string): Counted => ({ name: `address ${address}`, free: free.address })

export type Throttle = ReturnType<typeof createThrottle>

/** Counts tries of passwords and links by the address they come from and by the e-mail, in the database: for all processes. */
export function createThrottle(db: Db, clock: Clock) {
  const rowOf = (tx: Db, name: string) =>
    tx
      .insertInto('sign_in_failures')
      .values({ name, failures: 0, last_at_ms: clock.elapsed(), blocked_until_ms: 0 })
      // Changes nothing, but keeps the row for this transaction and tells it.
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
      .returning(['failures', 'last_at_ms', 'blocked_until_ms'])
      .executeTakeFirstOrThrow()

  function refuseDuringWait(blocked_until_ms: number): void {
    const wait_ms = blocked_until_ms - clock.elapsed()
    if (wait_ms > 0) throw tooMany(wait_ms)
  }

  /** Counts a failure; 429 during a wait. Returns what it has found and what it has made of it. */
  async function count(tx: Db, { name, free }: Counted) {
    const before = await rowOf(tx, name)
    refuseDuringWait(before.blocked_until_ms)
    const now = clock.elapsed()
    const failures = (now - before.last_at_ms > remembered_ms ? 0 : before.failures) + 1
    const after = { failures, last_at_ms: now, blocked_until_ms: now + waitAfter(failures, free) }
    await tx.updateTable('sign_in_failures').set(after).where('name', '=', name).execute()
    return { before, after }
  }

  /** Takes one failure back. What other tries have made of the row meanwhile stays. */
  async function takeBack(tx: Db, { name, free }: Counted, own: Awaited<ReturnType<typeof count>>) {
    const { failures, last_at_ms, blocked_until_ms } = await rowOf(tx, name)
    const { before, after } = own
    const left = Math.max(0, failures - 1)
    const blocked = blocked_until_ms === after.blocked_until_ms ? before.blocked_until_ms : blocked_until_ms
    await tx
      .updateTable('sign_in_failures')
      .set({
        failures: left,
        // Of the last failure: a right try must not keep older ones in mind.
        last_at_ms: last_at_ms === after.last_at_ms ? before.last_at_ms : last_at_ms,
        blocked_until_ms: left < free ? 0 : blocked,
      })
      .where('name', '=', name)
      .execute()
  }

  /** Forgets the failures of an e-mail: whoever it belongs to has shown that. */
  async function forget(tx: Db, email: string): Promise<void> {
    await tx.deleteFrom('sign_in_failures').where('name', '=', nameOfEmail(email)).execute()
  }

  return {
    forget,

    /**
     * Whether a password is right, by the check. The try is counted as a failure before, so that many at once get no more
     * tries than one after the other; 429 with Retry-After during a wait. It is taken back as soon as it turns out to be
     * right, whatever else is wrong with the request, and when the check itself fails: nothing was learnt by it.
     */
    async prove(
      { address, email }: { address: string; email: string },
      check: () => Promise<boolean>,
    ): Promise<boolean> {
      // One order for all, so that no two wait for each other.
      const [from, of] = [ofAddress(address), ofEmail(email)]
      const [from_own, of_own] = await transaction(
        db,
        async (tx) => [await count(tx, from), await count(tx, of)] as const,
      )
      // The address keeps its other failures: who knows one password may be guessing another one.
      const undo = (right: boolean) =>
        transaction(db, async (tx) => {
          await takeBack(tx, from, from_own)
          await (right ? forget(tx, email) : takeBack(tx, of, of_own))
        })
      const right = await check().catch(async (error) => {
        await undo(false)
        throw error
      })
      if (right) await undo(true)
      return right
    },

    /** Looks what a link is for, and counts a failure of the address when nobody ever made it; 429 during a wait. */
    async openLink<T>(address: string, find: (db: Db) => Promise<T>): Promise<T> {
      const from = ofAddress(address)
      const row = await db
        .selectFrom('sign_in_failures')
        .select('blocked_until_ms')
        .where('name', '=', from.name)
        .executeTakeFirst()
      refuseDuringWait(row?.blocked_until_ms ?? 0)
      const found = await find(db)
      if (!found) await transaction(db, (tx) => count(tx, from))
      return found
    },

    /** Counts that a person wants another e-mail, whether or not it is free: by that one could ask who has an account. */
    countMove: (user_id: string): Promise<unknown> =>
      transaction(db, (tx) => count(tx, { name: `moves ${user_id}`, free: free.moves })),
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
