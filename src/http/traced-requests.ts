import type { IncomingMessage, RequestListener } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Tracer } from '../telemetry/tracer.ts'
import { traceparentOf } from './trace.ts'

const untraced = ['/healthz', '/readyz', '/metrics']

/**
 * Makes a span of each request, below the trace of its caller. `begin` wraps the listener of the HTTP server: Fastify
 * writes the first log line of a request before its hooks. `route` is the first hook.
 */
export function traceRequests(tracer: Tracer) {
  const routed = new WeakMap<IncomingMessage, FastifyRequest>()
  const begin =
    (handler: RequestListener): RequestListener =>
    (request, response) => {
      const span = tracer.start('server', traceparentOf(request.headers))
      // All others read the trace from the headers: the log, and events that the request writes.
      request.headers.traceparent = span.traceparent
      response.once('close', () => {
        const { id, routeOptions: { url: route } = {} } = routed.get(request) ?? {}
        if (route && untraced.includes(route)) return
        const { method = '' } = request
        const status = response.headersSent ? response.statusCode : null
        const attributes = {
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': status,
          'rapport.request_id': id,
        }
        const error = status === null ? 'aborted' : status >= 500 ? `status ${status}` : undefined
        span.end(route ? `${method} ${route}` : method, attributes, error)
      })
      handler(request, response)
    }
  const route = (request: FastifyRequest) => void routed.set(request.raw, request)
  return { begin, route }
}
