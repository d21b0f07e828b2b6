import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { Accounts } from './accounts.ts'
import { addressOf } from './cookie.ts'
import type { KnownAccount, KnownBrowsers } from './known-browsers.ts'
import { checkPassword } from './passwords.ts'
import type { Throttle } from './throttle.ts'
import type { User } from './users.ts'

export type Authenticate = ReturnType<typeof createAuthentication>
type Deps = { accounts: Accounts; throttle: Throttle; browsers: KnownBrowsers }

/**
 * Finds the account of an e-mail and a password, or null. Throws 429 during a wait. A browser that the account knows
 * has its own limit, so failures of other clients do not lock it out. All other requests share the limits of strangers.
 */
export function createAuthentication({ accounts, throttle, browsers }: Deps) {
  /** The account of the password among those that know this browser. Null if none matches, false during a wait. */
  async function byKnownBrowser(known: KnownAccount[], password: string): Promise<User | null | false> {
    let waits = false
    for (const { user, browser_id } of known) {
      const asker = { identified: true, key: user.id }
      const check = () => checkPassword(password, user.password_hash, asker)
      const right = await throttle.proveIdentified(`browser ${browser_id}`, check).catch(nullDuringWait)
      if (right) return user
      waits ||= right === null
    }
    return waits ? false : null
  }

  async function asStranger(request: FastifyRequest, email: string, password: string) {
    const address = addressOf(request)
    let user: User | null = null
    const right = await throttle.prove({ address, email }, async () => {
      user = await accounts.find(email, password, { identified: false, key: address })
      if (!user) return false
      return (await accounts.hasOther(email, [user.id])) ? 'shared' : true
    })
    return right ? (user as User | null) : null
  }

  return async (request: FastifyRequest, email: string, password: string): Promise<User | null> => {
    const known = await browsers.find(request, email)
    const user = known.length ? await byKnownBrowser(known, password) : false
    if (user) return user
    // The browser, or a copy of its cookie, has no tries left. The address has its own limit.
    if (user === false) return asStranger(request, email, password)
    // The password may be that of an account with the same e-mail that does not know this browser.
    const ids = known.map(({ user }) => user.id)
    return (await accounts.hasOther(email, ids)) ? asStranger(request, email, password) : null
  }
}

function nullDuringWait(error: unknown): null {
  if (error instanceof ApiError && error.code === 'rate_limited') return null
  throw error
}
