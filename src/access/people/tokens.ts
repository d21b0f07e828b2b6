import { randomBytes } from 'node:crypto'
import { hashToken } from '../../db/token-hash.ts'
import { invalid } from '../../errors.ts'

/** A new token for a cookie or a link, and its hash, which is stored. */
export function newToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashToken(token) }
}

/** The hash of the token in a body. A value that is not text gets the hash of no token. */
export const hashOf = (token: unknown): string => hashToken(typeof token === 'string' ? token : '')

/** 422 for an unknown, used or expired token. The answer does not say which. */
export const badToken = () =>
  invalid([
    { field: 'token', code: 'not_valid', message: 'token is unknown, used or expired. Ask for a new link.' },
  ])
