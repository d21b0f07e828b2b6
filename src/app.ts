import type { FastifyBaseLogger } from 'fastify'
import { activityCompleted, activityCreated } from './activities/events.ts'
import { activitiesByIds } from './activities/list.ts'
import { activityRoutes } from './activities/routes.ts'
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './appointments/events.ts'
import { appointmentsByIds } from './appointments/list.ts'
import { appointmentRoutes } from './appointments/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { publicBooking } from './booking/public-routes.ts'
import { bookingPageRoutes } from './booking/routes.ts'
import { isoTime } from './clock.ts'
import { companyCreated, companyDeleted, companyUpdated } from './companies/events.ts'
import { companyRoutes } from './companies/routes.ts'
import type { Config } from './config.ts'
import { contactCreated, contactDeleted, contactUpdated } from './contacts/events.ts'
import { notesByIds } from './contacts/notes-queries.ts'
import { contactRoutes } from './contacts/routes.ts'
import type { Database, Db } from './db/db.ts'
import type { Seal } from './db/seal.ts'
import type { ServiceClock } from './db/service-clock.ts'
import { dealCreated, dealDeleted, dealLost, dealStageChanged, dealUpdated, dealWon } from './deals/events.ts'
import { stageHistoryRoutes } from './deals/history-routes.ts'
import { dealsByIds } from './deals/list.ts'
import { dealRoutes } from './deals/routes.ts'
import type { EventDefinition } from './events/define.ts'
import { feedRoutes } from './feed/routes.ts'
import { createStreams } from './feed/streams.ts'
import { limitOpenRoutes } from './http/address-limit.ts'
import { type Access, type Credential, createGate, createStillIn, guardRoutes } from './http/auth.ts'
import { apiIndex, docsPage } from './http/docs.ts'
import { healthRoutes, type Phase } from './http/health.ts'
import { createMetrics, type Peers } from './http/metrics.ts'
import { describeApi } from './http/openapi.ts'
import type { Limiter } from './http/rate-limit.ts'
import { type App, createServer } from './http/server.ts'
import { createWriter } from './http/write.ts'
import { createUsage, findAccess } from './keys/keys.ts'
import { takeBackKeysBy } from './keys/queries.ts'
import { keyRoutes } from './keys/routes.ts'
import { peopleRoutes } from './people/people.ts'
import { createSessionUse, findSession } from './people/sessions.ts'
import { reportRoutes } from './reports/routes.ts'
import { timelineRoutes } from './timeline/routes.ts'
import { trashRoutes } from './trash/routes.ts'
import { version } from './version.ts'
import { viewRoutes } from './views/routes.ts'
import { webApp } from './web/routes.ts'
import { deliveryRoutes } from './webhooks/delivery-routes.ts'
import type { Dispatcher } from './webhooks/dispatcher.ts'
import { webhookOperationRoutes } from './webhooks/operation-routes.ts'
import { queueNumbers } from './webhooks/queue.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import type { TargetPolicy } from './webhooks/target.ts'

/** The event catalogue: the events of all resources, in the order of the interface. */
export const catalogue: readonly EventDefinition[] = [
  contactCreated,
  contactUpdated,
  contactDeleted,
  companyCreated,
  companyUpdated,
  companyDeleted,
  dealCreated,
  dealUpdated,
  dealStageChanged,
  dealWon,
  dealLost,
  dealDeleted,
  activityCreated,
  activityCompleted,
  appointmentCreated,
  appointmentUpdated,
  appointmentCancelled,
]

/** What a key may be allowed: every resource to read and to write. */
export const scopes = [
  ...['contacts', 'companies', 'deals', 'activities', 'appointments', 'booking_pages', 'webhooks', 'trash'],
  ...['views', 'keys', 'members', 'workspace'],
].flatMap((name) => [`${name}:read`, `${name}:write`])
scopes.push('events:read', 'audit_log:read', 'reports:read')

export type Deps = {
  config: Pick<
    Config,
    | 'rate_limit_per_second'
    | 'trash_days'
    | 'max_webhooks'
    | 'booking_rate_per_second'
    | 'open_rate_per_second'
    | 'trusted_proxies'
    | 'public_url'
  >
  database: Database
  clock: ServiceClock
  /** Whether a power cut leaves everything that was acknowledged. */
  isDurable: () => boolean
  seal: Seal
  dispatcher: Dispatcher
  policy: TargetPolicy
  /** What this process does: without `api`, it answers for its health alone. */
  roles?: readonly ('api' | 'dispatcher')[]
  /** The other processes behind the same port, whose numbers /metrics adds. */
  peers?: Peers | undefined
  /** Where the process is in its life; readiness and refusals follow it. */
  phase: () => Phase
  /** In place of this process's own rate limits. */
  limiter?: Limiter | null | undefined
  /** Where the built web app is; without one, / leads to the API's documentation. */
  web_folder?: string | null | undefined
  logger?: FastifyBaseLogger
}

/** Builds the whole service over an open, migrated database. Listens to nothing by itself. */
export async function buildApp(deps: Deps): Promise<App> {
  const {
    config,
    database,
    clock,
    isDurable,
    seal,
    dispatcher,
    policy,
    phase,
    roles,
    peers,
    limiter,
    web_folder,
    logger,
  } = deps
  const { db, reading } = database
  const app = createServer(logger, { trusted_proxies: config.trusted_proxies })
  const write = createWriter(db, clock, seal)
  const metrics = createMetrics(
    () => queueNumbers(db, clock.elapsed()),
    () => ({ ...clock.removal(), durable: isDurable() }),
    peers,
  )
  database.onGroup(metrics.groupCommitted)
  database.onSlow(metrics.statementHeld)
  metrics.watch(app)

  healthRoutes(app, { db, phase, metrics })
  if (roles && !roles.includes('api')) return app
  const { rate_limit_per_second, trash_days, max_webhooks } = config
  const findIn = (handle: Db, { kind, hash }: Credential) =>
    kind === 'key' ? findAccess(handle, hash) : findSession(handle, hash)
  const find = (credential: Credential) => findIn(db, credential)
  const stillIn = createStillIn(findIn, clock)
  const uses = { key: createUsage(db, clock), session: createSessionUse(db, clock) }
  const touched = (access: Access) => uses[access.actor.kind === 'person' ? 'session' : 'key'](access)
  guardRoutes(app, createGate(find, clock, rate_limit_per_second, touched, limiter))
  limitOpenRoutes(app, config.open_rate_per_second, clock)
  await describeApi(app, catalogue, version)

  // Every resource, one line each.
  contactRoutes(app, { db, reading, write })
  companyRoutes(app, { db, reading, write })
  dealRoutes(app, { db, reading, write })
  stageHistoryRoutes(app, { db, now: () => clock.now() })
  activityRoutes(app, { db, reading, write, now: () => isoTime(clock.now()) })
  appointmentRoutes(app, { db, reading, write })
  bookingPageRoutes(app, { db, reading, write, now_ms: () => clock.now() })
  const views = {
    note: notesByIds,
    activity: activitiesByIds,
    appointment: appointmentsByIds,
    deal: dealsByIds,
  }
  timelineRoutes(app, { reading, views })
  auditRoutes(app, { reading })
  trashRoutes(app, { db, reading, write, seal, trash_days })
  reportRoutes(app, { reading, now_ms: () => clock.now() })
  viewRoutes(app, { db, write })
  peopleRoutes(app, { db, clock, write, seal, stillIn, scopes, takeBackKeysBy })
  keyRoutes(app, { db, reading, write, stillIn, now: () => isoTime(clock.now()), scopes })
  const event_names = catalogue.map((event) => event.name)
  webhookRoutes(app, { db, reading, write, stillIn, seal, policy, event_names, max_webhooks, dispatcher })
  webhookOperationRoutes(app, { db, write, stillIn, seal, event_names, dispatcher })
  deliveryRoutes(app, { db, reading, write, event_names })
  const onError = (err: unknown) => app.log.error({ err }, 'following the events failed')
  const streams = createStreams({
    database,
    clock,
    findAccess: find,
    serving: () => phase() === 'ready',
    onError,
  })
  feedRoutes(app, { db, reading, streams, event_names })

  const { booking_rate_per_second: per_second, public_url } = config
  await publicBooking(app, { db, reading, clock, seal, per_second, public_url })
  apiIndex(app)
  await docsPage(app)
  if (web_folder) await webApp(app, web_folder)
  else app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/', 302))
  return app
}
