import type { FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import { ApiError } from '../http/errors.ts'
import { addressOf } from './cookie.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import { checkPassword } from './passwords.ts'
import type { Throttle } from './throttle.ts'
import { type User, userByEmail } from './users.ts'

export type AuthenticationDeps = { db: Db; throttle: Throttle; browsers: KnownBrowsers }

/**
 * Finds the account of an e-mail and a password; null when there is none, 429 during a wait. A browser that is known to an
 * account first tries that one, with tries of its own, whatever others have tried. Everybody else is a stranger.
 */
export function createAuthentication({ db, throttle, browsers }: AuthenticationDeps) {
  async function byKnownBrowser(request: FastifyRequest, email: string, password: string) {
    const known = await browsers.find(request, email)
    if (!known) return null
    const { user, browser_id } = known
    const asker = { shown: true, key: user.id }
    const check = () => checkPassword(password, user.password_hash, asker)
    const right = await throttle.proveOwn(`browser ${browser_id}`, check).catch(nullDuringWait)
    return { user, right }
  }

  async function asStranger(request: FastifyRequest, email: string, password: string) {
    const address = addressOf(request)
    const user = await userByEmail(db, email)
    const asker = { shown: false, key: address }
    const check = () => checkPassword(password, user?.password_hash ?? null, asker)
    return (await throttle.prove({ address, email }, check)) && user ? user : null
  }

  return async (request: FastifyRequest, email: string, password: string): Promise<User | null> => {
    const known = await byKnownBrowser(request, email, password)
    if (known?.right) return known.user
    // The browser has used up its own tries, or somebody with a copy of its cookie has: its address may have some.
    return known?.right === false ? null : asStranger(request, email, password)
  }
}

function nullDuringWait(error: unknown): null {
  if (error instanceof ApiError && error.code === 'rate_limited') return null
  throw error
}
