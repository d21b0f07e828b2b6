import { createHash } from 'node:crypto'

/** The SHA-256 of a token, such as an API key, in lower-case hex: the database stores no token. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')
