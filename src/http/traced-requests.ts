import type { FastifyRequest } from 'fastify'
import type { Span, Tracer } from '../telemetry/tracer.ts'
import type { App } from './server.ts'
import { traceparentOf } from './trace.ts'

const untraced = ['/healthz', '/readyz', '/metrics']

/** Makes a span of each request, below the trace of its caller. */
export function traceRequests(app: App, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, Span>()
  app.addHook('onRequest', (request, _reply, done) => {
    const { url: route = 'unknown' } = request.routeOptions
    if (!untraced.includes(route)) {
      const span = tracer.start(`${request.method} ${route}`, 'server', traceparentOf(request.headers))
      spans.set(request, span)
      // All others read the trace from the headers: the log, and events that the request writes.
      request.headers.traceparent = span.traceparent
    }
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply
    const attributes = {
      'http.request.method': request.method,
      'http.route': request.routeOptions.url,
      'http.response.status_code': status,
      'rapport.request_id': request.id,
    }
    spans.get(request)?.end(attributes, status >= 500 ? `status ${status}` : undefined)
    done()
  })
}
