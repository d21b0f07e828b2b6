import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { ApiError, forbidden, unauthorized } from './errors.ts'
import { createLimiter } from './rate-limit.ts'

/** Who calls: one key of one workspace. `scopes` null: all of them. */
export type Access = {
  key_id: string
  workspace_id: number
  scopes: string[] | null
  expires_at: string | null
}

/** Finds a live (not revoked) key by the SHA-256 of its text, in lower-case hex. */
export type FindKey = (hash: string) => Promise<Access | null>

declare module 'fastify' {
  interface FastifyRequest {
    access: Access
  }
  interface FastifyContextConfig {
    /** What a key needs for this route, such as contacts:read; none: the route is open to all. */
    scope?: string
  }
}

export const hashKey = (token: string): string => createHash('sha256').update(token).digest('hex')

// A revocation counts within a second in every process, so an answer is remembered for half of one.
const remembered_ms = 500
const most_remembered = 10_000

/** The hook that lets a request in: key, then rate limit, then scope. */
export function createGate(
  findKey: FindKey,
  clock: Clock,
  rate_limit_per_second: number,
  touched: (key_id: string) => void,
) {
  const keys = new Map<string, { access: Access; until: number }>()
  const limiter = createLimiter(rate_limit_per_second, clock)

  async function access(token: string): Promise<Access> {
    const known = keys.get(token)
    // Monotonic, because the clock of a test or of a machine may be turned.
    if (known && known.until > performance.now()) return known.access
    const found = await findKey(hashKey(token))
    if (!found) {
      keys.delete(token)
      throw unauthorized()
    }
    if (keys.size >= most_remembered) keys.clear()
    keys.set(token, { access: found, until: performance.now() + remembered_ms })
    return found
  }

  return async function gate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { scope } = request.routeOptions.config
    if (!scope) return
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
    if (!token) throw unauthorized()
    const found = await access(token)
    if (found.expires_at && Date.parse(found.expires_at) <= clock.now()) throw unauthorized()
    request.access = found
    touched(found.key_id)
    if (limiter) {
      const { limit, remaining, reset_seconds, retry_after_seconds } = limiter(found.key_id)
      reply
        .header('ratelimit-limit', limit)
        .header('ratelimit-remaining', remaining)
        .header('ratelimit-reset', reset_seconds)
      if (retry_after_seconds)
        throw new ApiError('rate_limited', `This key may send ${rate_limit_per_second} requests a second.`, {
          headers: { 'retry-after': String(retry_after_seconds) },
        })
    }
    if (found.scopes && !found.scopes.includes(scope)) throw forbidden(`This key lacks the scope ${scope}.`)
  }
}
