import type { FastifyReply, FastifyRequest } from 'fastify'

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const sent =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Traceparent'
const exposed = [
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotency-Replayed',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Request-Id',
  'X-Total-Count',
].join(', ')
// Chromium's limit is 2 h.
const preflight_seconds = '7200'

/**
 * Lets pages of other origins call the API. Returns a function for the start of each request, which returns true if it
 * answered a preflight. It never allows credentials, so no browser shows such a page what a session's cookie reads.
 */
export function allowOrigins(origins: readonly string[]) {
  const all = origins[0] === '*'
  const allowed = new Set(origins)
  return ({ method, url, headers }: FastifyRequest, reply: FastifyReply): boolean => {
    if (allowed.size === 0 || !isApi.test(url)) return false
    const { origin } = headers
    // Without Origin too: a cache must not give that answer to a page.
    if (!all) reply.header('vary', 'Origin')
    if (origin === undefined || !(all || allowed.has(origin))) return false
    reply.header('access-control-allow-origin', all ? '*' : origin)
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', exposed)
      return false
    }
    reply
      .code(204)
      .header('access-control-allow-methods', methods)
      .header('access-control-allow-headers', sent)
      .header('access-control-max-age', preflight_seconds)
      .send()
    return true
  }
}

const isApi = /^(?:https?:\/\/[^/?]*)?\/api(?:\/|\?|$)/i
