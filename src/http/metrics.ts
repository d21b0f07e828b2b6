import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { App } from './server.ts'

/** Numbers of the delivery queue, read when /metrics is asked for; ages in seconds. */
export type QueueNumbers = { due: number; in_flight: number; failed: number; oldest_due_seconds: number }

/** Collects what /metrics shows, in Prometheus text. */
export function createMetrics(readQueue: () => Promise<QueueNumbers>) {
  const registry = new Registry()
  const registers = [registry]
  const duration = new Histogram({
    name: 'rapport_http_request_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const requests = new Counter({
    name: 'rapport_http_requests_total',
    help: 'Requests by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers,
  })
  const group = new Histogram({
    name: 'rapport_commit_group_size',
    help: 'Transactions that shared one commit.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  })
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `rapport_deliveries_${name}`, help, registers })
  const due = gauge('due', 'Deliveries whose next attempt is due.')
  const in_flight = gauge('in_flight', 'Deliveries that are being attempted.')
  const failed = gauge('failed', 'Deliveries in the log that failed.')
  const oldest = gauge('oldest_due_seconds', 'Age of the oldest due delivery.')

  return {
    groupCommitted: (size: number) => group.observe(size),
    watch(app: App) {
      app.addHook('onResponse', async (request, reply) => {
        const { method } = request
        const route = request.routeOptions.url ?? 'unknown'
        duration.observe({ method, route }, reply.elapsedTime / 1000)
        requests.inc({ method, route, status: reply.statusCode })
      })
    },
    async text(): Promise<string> {
      const numbers = await readQueue()
      due.set(numbers.due)
      in_flight.set(numbers.in_flight)
      failed.set(numbers.failed)
      oldest.set(numbers.oldest_due_seconds)
      return registry.metrics()
    },
    content_type: registry.contentType,
  }
}
export type Metrics = ReturnType<typeof createMetrics>
