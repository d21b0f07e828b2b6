import type { Clock } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { hashToken } from '../http/auth.ts'
import { ApiError } from '../http/errors.ts'
import { emailKey } from './users.ts'

// So many failures cost nothing; each one more doubles the wait, up to the longest.
const free = { email: 5, address: 20 }
const first_wait_ms = 30_000
const longest_wait_ms = 15 * 60_000
/** Failures of so long ago are forgotten. */
export const remembered_ms = 24 * 3600 * 1000

type Counted = { name: string; free: number }

/** The wait after so many failures, in ms. */
export const waitAfter = (failures: number, free: number): number =>
  failures < free ? 0 : Math.min(longest_wait_ms, first_wait_ms * 2 ** Math.min(failures - free, 20))

// A typing error may put a password into the field of the e-mail: what is kept shows nothing of it.
const namesOf = ({ address, email }: { address: string; email?: string | undefined }): Counted[] => [
  { name: `address ${address}`, free: free.address },
  ...(email === undefined ? [] : [{ name: `email ${hashToken(emailKey(email))}`, free: free.email }]),
]

export type Throttle = ReturnType<typeof createThrottle>

/** Counts tries of passwords and links by the address they come from and by the e-mail, in the database: for all processes. */
export function createThrottle(db: Db, clock: Clock) {
  // One order for all, so that no two wait for each other.
  async function count(tx: Db, { name, free }: Counted): Promise<number> {
    const now = clock.now()
    const { failures, last_at_ms, blocked_until_ms } = await tx
      .insertInto('sign_in_failures')
      .values({ name, failures: 0, last_at_ms: now, blocked_until_ms: 0 })
      // Changes nothing, but keeps the row for this transaction and tells it.
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
      .returning(['failures', 'last_at_ms', 'blocked_until_ms'])
      .executeTakeFirstOrThrow()
    if (blocked_until_ms > now) return blocked_until_ms - now
    const counted = (now - last_at_ms > remembered_ms ? 0 : failures) + 1
    await tx
      .updateTable('sign_in_failures')
      .set({ failures: counted, last_at_ms: now, blocked_until_ms: now + waitAfter(counted, free) })
      .where('name', '=', name)
      .execute()
    return 0
  }

  return {
    /**
     * Counts a try as a failure before it is looked at, so that many at once get no more tries than one after the other;
     * 429 with Retry-After during a wait. Returns what takes it back when the try was right.
     */
    async admit(who: { address: string; email?: string | undefined }): Promise<(tx: Db) => Promise<void>> {
      const [address, email] = namesOf(who)
      await transaction(db, async (tx) => {
        for (const one of [address, email]) {
          const wait_ms = one ? await count(tx, one) : 0
          if (wait_ms) throw tooMany(wait_ms)
        }
      })
      return async (tx) => {
        // The address keeps its other failures: who knows one password may be guessing another one.
        const row = await tx
          .selectFrom('sign_in_failures')
          .select('failures')
          .where('name', '=', String(address?.name))
          .executeTakeFirst()
        if (row) {
          const still_free = row.failures - 1 < free.address
          await tx
            .updateTable('sign_in_failures')
            .set((eb) => ({
              failures: eb('failures', '-', 1),
              ...(still_free && { blocked_until_ms: 0 }),
            }))
            .where('name', '=', String(address?.name))
            .execute()
        }
        if (email) await tx.deleteFrom('sign_in_failures').where('name', '=', email.name).execute()
      }
    },
  }
}

function tooMany(wait_ms: number): ApiError {
  const seconds = Math.ceil(wait_ms / 1000)
  return new ApiError('rate_limited', `Too many tries that were wrong. Try again in ${seconds} seconds.`, {
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
