import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import type { Seal } from '../../db/seal.ts'
import { cookieAttributes } from './cookie.ts'
import { emailKey, findUser, type User } from './users.ts'

// Browsers keep a cookie for at most 400 days.
const max_age_s = 400 * 24 * 3600
/** A cookie holds at most this many accounts, the newest first. */
const max_accounts = 5

const cookie_name = (protocol: string) =>
  protocol === 'https' ? '__Host-rapport_browser' : 'rapport_browser'

type Mark = { user_id: string; browser_id: string; issued_s: number; mac: string }

const textOf = ({ user_id, browser_id, issued_s, mac }: Mark) =>
  [user_id, browser_id, issued_s.toString(36), mac].join('~')
const mark_pattern = /^([\w-]{1,64})~([\w-]{22})~([0-9a-z]{1,8})~([\w-]{43})$/

function readMark(text: string): Mark | null {
  const [, user_id = '', browser_id = '', issued = '', mac = ''] = mark_pattern.exec(text) ?? []
  return user_id ? { user_id, browser_id, issued_s: Number.parseInt(issued, 36), mac } : null
}

function marksOf({ protocol, headers }: Pick<FastifyRequest, 'protocol' | 'headers'>): Mark[] {
  const pair = headers.cookie?.split(/; */).find((cookie) => cookie.startsWith(`${cookie_name(protocol)}=`))
  const texts = pair?.slice(pair.indexOf('=') + 1).split('!') ?? []
  return texts
    .slice(0, max_accounts)
    .map(readMark)
    .filter((mark) => mark !== null)
}

/** An account, and the id by which the tries of this browser are counted. */
export type KnownAccount = { user: User; browser_id: string }
export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>

/**
 * Keeps the accounts that a browser has signed in to in a signed cookie. The cookie does not sign anybody in. It gives
 * the browser its own limit of failed sign-ins. A mark is bound to the account and its password hash, so a new password
 * ends it.
 */
export function createKnownBrowsers(db: Db, clock: Clock, seal: Seal) {
  const macOf = ({ user_id, browser_id, issued_s }: Omit<Mark, 'mac'>, password_hash: string) =>
    seal.mac('known-browser', [user_id, browser_id, issued_s, password_hash].join('\n'))
  const now_s = () => Math.floor(clock.now() / 1000)

  function isValid(mark: Mark, { password_hash }: Pick<User, 'password_hash'>): boolean {
    const expected = macOf(mark, password_hash)
    const genuine =
      mark.mac.length === expected.length && timingSafeEqual(Buffer.from(mark.mac), Buffer.from(expected))
    return genuine && now_s() - mark.issued_s < max_age_s
  }

  return {
    /** The accounts with this e-mail that the browser has signed in to before. */
    async find(request: FastifyRequest, email: string): Promise<KnownAccount[]> {
      const found: KnownAccount[] = []
      for (const mark of marksOf(request)) {
        const user = await findUser(db, mark.user_id)
        if (user && emailKey(user.email) === emailKey(email) && isValid(mark, user))
          found.push({ user, browser_id: mark.browser_id })
      }
      return found
    },

    /** The Set-Cookie that adds an account to the known ones of the browser. */
    cookieFor(request: FastifyRequest, user: Pick<User, 'id' | 'password_hash'>): string {
      const marks = marksOf(request)
      const before = marks.find(({ user_id }) => user_id === user.id)
      // Keep the id only if its signature is valid: a client must not choose it.
      const kept = before && isValid(before, user) ? before.browser_id : null
      const browser_id = kept ?? randomBytes(16).toString('base64url')
      const mark = { user_id: user.id, browser_id, issued_s: now_s() }
      const own = { ...mark, mac: macOf(mark, user.password_hash) }
      const others = marks.filter(({ user_id }) => user_id !== user.id).slice(0, max_accounts - 1)
      const { protocol } = request
      const value = [own, ...others].map(textOf).join('!')
      return `${cookie_name(protocol)}=${value}; Max-Age=${max_age_s}; ${cookieAttributes(protocol)}`
    },
  }
}
