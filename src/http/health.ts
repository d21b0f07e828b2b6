import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { single } from './envelope.ts'
import { unavailable } from './errors.ts'
import type { Metrics } from './metrics.ts'
import type { App } from './server.ts'

export type Phase = 'starting' | 'ready' | 'stopping'

type Deps = { db: Db; phase: () => Phase; metrics: Metrics }

const open_paths = new Set(['/healthz', '/readyz', '/metrics'])

/** Liveness, readiness and metrics: no key, the first two in the envelope. Everything else is 503 while stopping. */
export function healthRoutes(app: App, { db, phase, metrics }: Deps): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (phase() === 'ready' || open_paths.has(request.routeOptions.url ?? '')) return done()
    reply.header('connection', 'close')
    done(unavailable(`The service is ${phase()}.`, 1))
  })
  const hidden = { schema: { hide: true } }
  app.get('/healthz', hidden, async () => single({ status: 'ok' }))
  app.get('/readyz', hidden, async () => {
    if (phase() !== 'ready') throw unavailable(`The service is ${phase()}.`, 1)
    try {
      await sql`SELECT 1`.execute(db)
    } catch {
      throw unavailable('The database does not answer.')
    }
    return single({ status: 'ready' })
  })
  app.get('/metrics', hidden, async (_request, reply) => {
    reply.type(metrics.content_type)
    return metrics.text()
  })
}
