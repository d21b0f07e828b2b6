import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { ApiError } from '../errors.ts'
import { subscriberOf } from './client-address.ts'
import { open_to_all } from './operation.ts'
import { createLimiter } from './rate-limit.ts'
import type { App } from './server.ts'

/**
 * Limits the requests of each client address in this process; null without a limit. The returned function throws 429. Call
 * it before the body of a request is read.
 */
export function createAddressLimit(
  per_second: number,
  clock: Clock,
): ((request: FastifyRequest) => void) | null {
  const limiter = createLimiter(per_second, clock)
  if (!limiter) return null
  const requests = per_second === 1 ? '1 request' : `${per_second} requests`
  return ({ ip, socket }) => {
    const { retry_after_seconds } = limiter(subscriberOf(ip, socket.remoteAddress))
    if (retry_after_seconds)
      throw new ApiError('rate_limited', `An address may send ${requests} a second here without a key.`, {
        headers: { 'retry-after': String(retry_after_seconds) },
      })
  }
}

/** Adds the limit to every later API route that requires neither a key nor a session, such as signing in. */
export function limitOpenRoutes(app: App, per_second: number, clock: Clock): void {
  const limit = createAddressLimit(per_second, clock)
  if (!limit) return
  const hook = (request: FastifyRequest, _: unknown, done: () => void) => {
    limit(request)
    done()
  }
  app.addHook('onRoute', (route) => {
    const { scope = open_to_all } = route.config?.operation ?? {}
    if (scope !== open_to_all || !route.url.startsWith('/api/v1')) return
    const hooks = [route.onRequest ?? []].flat()
    // A HEAD route already has the hooks of its GET.
    if (!hooks.includes(hook)) route.onRequest = [hook, ...hooks]
  })
}
