import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { prepare } from '../db/statements/prepare.ts'
import { unavailable } from '../errors.ts'
import { Single, single } from './envelope.ts'
import type { Metrics } from './metrics.ts'
import { operation } from './operation.ts'
import { isOwnCall } from './own-calls.ts'
import type { App } from './server.ts'

export type Phase = 'starting' | 'ready' | 'stopping'

type Deps = { db: Db; phase: () => Phase; metrics: Metrics }

const open_paths = new Set(['/healthz', '/readyz', '/metrics'])

const answers = prepare(() => sql`SELECT 1`)

const State = Single(Type.Object({ status: Type.String() }))
const MetricsText = {
  description: 'In the text format of Prometheus.',
  content: { 'text/plain': { schema: { type: 'string' } } },
}

/** Liveness, readiness and metrics, without a key. Every other path answers 503 while the service starts or stops. */
export function healthRoutes(app: App, { db, phase, metrics }: Deps): void {
  app.addHook('onRequest', (request, reply, done) => {
    // A call of the service itself belongs to a request in flight.
    const may_pass = isOwnCall(request) || open_paths.has(request.routeOptions.url ?? '')
    if (phase() === 'ready' || may_pass) return done()
    reply.header('connection', 'close')
    done(unavailable(`The service is ${phase()}.`, 1))
  })

  operation(
    app,
    {
      method: 'GET',
      path: '/healthz',
      scope: 'open',
      summary: 'Check that the process runs',
      answers: { 200: State },
    },
    async () => single({ status: 'ok' }),
  )

  operation(
    app,
    {
      method: 'GET',
      path: '/readyz',
      scope: 'open',
      summary: 'Check that the service is ready and the database answers',
      answers: { 200: State },
    },
    async () => {
      if (phase() !== 'ready') throw unavailable(`The service is ${phase()}.`, 1)
      try {
        await answers(db, {})
      } catch (cause) {
        throw Object.assign(unavailable('The database does not answer.'), { cause })
      }
      return single({ status: 'ready' })
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: '/metrics',
      scope: 'open',
      summary: 'Read the metrics',
      answers: { 200: MetricsText },
    },
    async (_request, reply) => {
      reply.type(metrics.content_type)
      return metrics.text()
    },
  )
}
