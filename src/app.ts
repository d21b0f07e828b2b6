import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from './clock.ts'
import { companyCreated, companyDeleted, companyUpdated } from './companies/events.ts'
import { companyRoutes } from './companies/routes.ts'
import type { Config } from './config.ts'
import type { Database } from './db/db.ts'
import type { Seal } from './db/seal.ts'
import type { EventDefinition } from './events/define.ts'
import { createGate } from './http/auth.ts'
import { docsPage } from './http/docs.ts'
import { healthRoutes, type Phase } from './http/health.ts'
import { createMetrics } from './http/metrics.ts'
import { describeApi } from './http/openapi.ts'
import { type App, createServer } from './http/server.ts'
import { createWriter } from './http/write.ts'
import { createUsage, findAccess } from './keys/keys.ts'
import { version } from './version.ts'

/** The event catalogue: the events of all resources, in the order of the interface. */
export const catalogue: readonly EventDefinition[] = [companyCreated, companyUpdated, companyDeleted]

/** What a key may be allowed: every resource to read and to write. */
export const scopes = ['contacts', 'companies', 'deals', 'webhooks'].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
])

export type Deps = {
  config: Pick<Config, 'rate_limit_per_second'>
  database: Database
  clock: Clock
  seal: Seal
  /** Where the process is in its life; readiness and refusals follow it. */
  phase: () => Phase
  logger?: FastifyBaseLogger
}

/** Builds the whole service over an open, migrated database. Listens to nothing by itself. */
export async function buildApp({ config, database, clock, seal, phase, logger }: Deps): Promise<App> {
  const { db } = database
  const app = createServer(logger)
  const write = createWriter(db, clock, seal)
  const metrics = createMetrics(async () => ({ due: 0, in_flight: 0, failed: 0, oldest_due_seconds: 0 }))
  database.onGroup(metrics.groupCommitted)
  metrics.watch(app)

  healthRoutes(app, { db, phase, metrics })
  app.addHook(
    'onRequest',
    createGate((hash) => findAccess(db, hash), clock, config.rate_limit_per_second, createUsage(db, clock)),
  )
  await describeApi(app, catalogue, version)

  // Every resource, one line each.
  companyRoutes(app, { db, write })

  await docsPage(app)
  app.refuseOtherMethods()
  return app
}
