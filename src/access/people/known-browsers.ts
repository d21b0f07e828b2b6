import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import type { Seal } from '../../db/seal.ts'
import { cookieAttributes } from './cookie.ts'
import { emailKey, findUser, type User } from './users.ts'

// Browsers keep no cookie longer than 400 days.
const lasting_s = 400 * 24 * 3600
/** Accounts of one browser that are remembered, the newest first. */
const most_accounts = 5

const cookie_name = (protocol: string) =>
  protocol === 'https' ? '__Host-rapport_browser' : 'rapport_browser'

type Mark = { user_id: string; browser_id: string; issued_s: number; mac: string }

const textOf = ({ user_id, browser_id, issued_s, mac }: Mark) =>
  [user_id, browser_id, issued_s.toString(36), mac].join('~')
const form = /^([\w-]{1,64})~([\w-]{22})~([0-9a-z]{1,8})~([\w-]{43})$/

function readMark(text: string): Mark | null {
  const [, user_id = '', browser_id = '', issued = '', mac = ''] = form.exec(text) ?? []
  return user_id ? { user_id, browser_id, issued_s: Number.parseInt(issued, 36), mac } : null
}

function marksOf({ protocol, headers }: Pick<FastifyRequest, 'protocol' | 'headers'>): Mark[] {
  const pair = headers.cookie?.split(/; */).find((one) => one.startsWith(`${cookie_name(protocol)}=`))
  const texts = pair?.slice(pair.indexOf('=') + 1).split('!') ?? []
  return texts
    .slice(0, most_accounts)
    .map(readMark)
    .filter((mark) => mark !== null)
}

/** An account, and the id by which its tries of this browser are counted. */
export type KnownAccount = { user: User; browser_id: string }
export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>

/**
 * Remembers in a signed cookie which accounts a browser has signed in to. The cookie signs nobody in: it gives the browser
 * tries of its own. It is bound to the account and its password, and so ends when the password changes.
 */
export function createKnownBrowsers(db: Db, clock: Clock, seal: Seal) {
  const macOf = ({ user_id, browser_id, issued_s }: Omit<Mark, 'mac'>, password_hash: string) =>
    seal.mac('known-browser', [user_id, browser_id, issued_s, password_hash].join('\n'))
  const now_s = () => Math.floor(clock.now() / 1000)

  function isValid(mark: Mark, { password_hash }: Pick<User, 'password_hash'>): boolean {
    const expected = macOf(mark, password_hash)
    const genuine =
      mark.mac.length === expected.length && timingSafeEqual(Buffer.from(mark.mac), Buffer.from(expected))
    return genuine && now_s() - mark.issued_s < lasting_s
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

    /** The Set-Cookie by which a browser is known to this account from now on; it keeps its other accounts. */
    cookieFor(request: FastifyRequest, user: Pick<User, 'id' | 'password_hash'>): string {
      const marks = marksOf(request)
      const before = marks.find(({ user_id }) => user_id === user.id)
      // The id is kept only where it was ours: nobody else chooses it.
      const kept = before && isValid(before, user) ? before.browser_id : null
      const browser_id = kept ?? randomBytes(16).toString('base64url')
      const mark = { user_id: user.id, browser_id, issued_s: now_s() }
      const own = { ...mark, mac: macOf(mark, user.password_hash) }
      const others = marks.filter(({ user_id }) => user_id !== user.id).slice(0, most_accounts - 1)
      const { protocol } = request
      const value = [own, ...others].map(textOf).join('!')
      return `${cookie_name(protocol)}=${value}; Max-Age=${lasting_s}; ${cookieAttributes(protocol)}`
    },
  }
}
