import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { ApiError, forbidden, unauthorized } from './errors.ts'
import { type Allowance, createLimiter, type Limiter } from './rate-limit.ts'
import type { App } from './server.ts'

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

/**
 * What lets a request in: the key, then the rate limit, then the scope. Returns the hook for routes that need a scope. A
 * key that was just found costs no promise, since every request passes here; a limit that processes share costs one.
 */
export function createGate(
  findKey: FindKey,
  clock: Clock,
  rate_limit_per_second: number,
  touched: (key_id: string) => void,
  shared_limiter: Limiter | null = null,
) {
  const keys = new Map<string, { access: Access; until: number }>()
  const limiter: Limiter | null = shared_limiter ?? createLimiter(rate_limit_per_second, clock)

  async function lookUp(token: string): Promise<Access> {
    const access = await findKey(hashKey(token))
    if (!access) {
      keys.delete(token)
      throw unauthorized()
    }
    if (keys.size >= most_remembered) keys.clear()
    // Monotonic, because the clock of a test or of a machine may be turned.
    keys.set(token, { access, until: performance.now() + remembered_ms })
    return access
  }

  function pass(reply: FastifyReply, { scopes }: Access, scope: string, allowance?: Allowance): void {
    if (allowance) {
      const { limit, remaining, reset_seconds, retry_after_seconds } = allowance
      reply
        .header('ratelimit-limit', limit)
        .header('ratelimit-remaining', remaining)
        .header('ratelimit-reset', reset_seconds)
      if (retry_after_seconds)
        throw new ApiError('rate_limited', `This key may send ${rate_limit_per_second} requests a second.`, {
          headers: { 'retry-after': String(retry_after_seconds) },
        })
    }
    if (scopes && !scopes.includes(scope)) throw forbidden(`This key lacks the scope ${scope}.`)
  }

  // A promise only when the limit is shared and has to be asked for.
  function admit(request: FastifyRequest, reply: FastifyReply, access: Access, scope: string) {
    if (access.expires_at && Date.parse(access.expires_at) <= clock.now()) throw unauthorized()
    request.access = access
    touched(access.key_id)
    const allowance = limiter?.(access.key_id)
    if (allowance instanceof Promise) return allowance.then((told) => pass(reply, access, scope, told))
    pass(reply, access, scope, allowance)
  }

  return (scope: string) =>
    function gate(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
      const enter = (access: Access) => {
        try {
          const admitted = admit(request, reply, access, scope)
          if (admitted) admitted.then(() => done(), done)
          else done()
        } catch (error) {
          done(error as Error)
        }
      }
      const known = token && keys.get(token)
      if (!token) done(unauthorized())
      else if (known && known.until > performance.now()) enter(known.access)
      else lookUp(token).then(enter, done)
    }
}

/** Puts the gate before every route that follows and names a scope, and before its HEAD twin once. */
export function guardRoutes(app: App, gate: ReturnType<typeof createGate>): void {
  const gates = new WeakSet<object>()
  app.addHook('onRoute', (route) => {
    const { scope } = route.config ?? {}
    const hooks = [route.onRequest ?? []].flat()
    if (!scope || hooks.some((hook) => gates.has(hook))) return
    const hook = gate(scope)
    gates.add(hook)
    route.onRequest = [hook, ...hooks]
  })
}
