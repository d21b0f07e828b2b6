import { randomBytes } from 'node:crypto'
import { hashToken } from '../../http/auth.ts'
import { invalid } from '../../http/errors.ts'

/** What is shown once, in a cookie or a link, and what is stored of it. */
export function newToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: hashToken(token) }
}

/** The hash of what a body has as a token, whatever that is: what is no text is nobody's token. */
export const hashOf = (token: unknown): string => hashToken(typeof token === 'string' ? token : '')

/** 422 on `token`: it is unknown, was used, or is over; which of them is not told. */
export const badToken = () =>
  invalid([{ field: 'token', code: 'not_valid', message: 'token is not valid, or not any more.' }])
