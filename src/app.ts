import type { FastifyBaseLogger } from 'fastify'
import { findAccess, recordKeyUse } from './access/keys/keys.ts'
import { keyRoutes } from './access/keys/routes.ts'
import { listMembers } from './access/people/members.ts'
import type { Cost } from './access/people/passwords.ts'
import { peopleRoutes } from './access/people/people.ts'
import { createRoleScopes } from './access/people/roles.ts'
import type { RoleService } from './access/people/service.ts'
import { findSession, recordSessionUse } from './access/people/sessions.ts'
import { createUseRecorder } from './access/use.ts'
import { findWorkspace } from './access/workspaces.ts'
import { auditRoutes } from './across/audit/routes.ts'
import { backfillRoutes } from './across/backfills/routes.ts'
import { duplicateRoutes } from './across/duplicates/routes.ts'
import { workspaceExportRoute } from './across/exports/routes.ts'
import type { Others } from './across/exports/workspace.ts'
import { mergeRoutes } from './across/merges/routes.ts'
import { notificationRoutes } from './across/notifications/routes.ts'
import { reassignmentRoutes } from './across/reassignment/routes.ts'
import { reportRoutes } from './across/reports/routes.ts'
import { revertRoute } from './across/reverts/routes.ts'
import { searchRoutes } from './across/search/routes.ts'
import { timelineRoutes } from './across/timeline/routes.ts'
import { titlesOf } from './across/titles.ts'
import { trashRoutes } from './across/trash/routes.ts'
import { listViews } from './across/views/queries.ts'
import { viewRoutes } from './across/views/routes.ts'
import { publicBooking } from './booking-site/routes.ts'
import type { Poller } from './busy/poll.ts'
import { type BusyService, busyCalendarRoutes } from './busy/routes.ts'
import { calendarFeedRoutes, icsRoutes } from './calendar-feeds/routes.ts'
import type { Config } from './config.ts'
import { listDefinitions } from './custom-fields/queries.ts'
import { customFieldRoutes } from './custom-fields/routes.ts'
import { choicesOf } from './db/choices.ts'
import type { Database, Db } from './db/db.ts'
import type { Seal } from './db/seal.ts'
import type { ServiceClock } from './db/service-clock.ts'
import type { EventDefinition } from './events/define.ts'
import { feedRoutes } from './events/feed/routes.ts'
import { createStreams, type Streams } from './events/feed/streams.ts'
import { limitOpenRoutes } from './http/address-limit.ts'
import { type Access, type Credential, createGate, createRecheckAccess, guardRoutes } from './http/auth.ts'
import { healthRoutes, type Phase } from './http/health.ts'
import { createMetrics, type Peers } from './http/metrics.ts'
import { apiIndex, docsPage } from './http/openapi/docs.ts'
import { describeApi } from './http/openapi/openapi.ts'
import { collectOperations } from './http/operation.ts'
import { createProcessMetrics } from './http/process-metrics.ts'
import type { Limiter } from './http/rate-limit.ts'
import { createReadRights } from './http/scopes.ts'
import { type App, createServer } from './http/server.ts'
import { limitSnapshots } from './http/snapshots.ts'
import { createWriter } from './http/write.ts'
import { importRoutes } from './imports/routes.ts'
import { mailNumbers } from './mails/log/queries.ts'
import { type MailService, mailRoutes } from './mails/log/routes.ts'
import type { Mailer } from './mails/mailer.ts'
import { mailSettingsShown } from './mails/open.ts'
import { unsubscribeRoutes } from './mails/unsubscribe-routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { batchRoute } from './resources/batch/routes.ts'
import { appSegment, createResourceOfEvent, scopeNames } from './resources/derived.ts'
import { resources, rooms } from './resources/index.ts'
import type { Tracer } from './telemetry/tracer.ts'
import { version } from './version.ts'
import type { WebFiles } from './web/files.ts'
import { webApp } from './web/routes.ts'
import { type BuildBody, createBuildBody } from './webhooks/delivery/bodies.ts'
import type { Dispatcher } from './webhooks/delivery/dispatcher.ts'
import { queueNumbers } from './webhooks/delivery/queue.ts'
import { webhookActionRoutes } from './webhooks/log/action-routes.ts'
import { changeEventsRoute } from './webhooks/log/change-events.ts'
import { deliveryRoutes } from './webhooks/log/delivery-routes.ts'
import { explainRoute } from './webhooks/log/explain.ts'
import { webhookRoutes } from './webhooks/registration/routes.ts'
import type { TargetPolicy } from './webhooks/registration/target.ts'
import type { WebhookService } from './webhooks/service.ts'
import { oldestWork } from './work/ages.ts'
import { workRoutes } from './work/routes.ts'

/** The event catalogue: the events of all resources, in the order of the interface. */
export const catalogue: readonly EventDefinition[] = resources.flatMap(({ events }) => events)

/** Builds the bodies of deliveries. Messages link to the web app at `public_url`. */
export function createBodies(public_url: string | null): BuildBody {
  const resourceOf = createResourceOfEvent(resources)
  return createBuildBody((event) => {
    const resource = resourceOf(event)
    return resource && { noun: resource.noun, title: resource.title.fields, path: appSegment(resource) }
  }, public_url)
}

/** All scopes that a key can have. */
export const scopes = [
  ...scopeNames(resources),
  'webhooks',
  'trash',
  'views',
  'imports',
  'keys',
  'members',
  'mails',
  'workspace',
].flatMap((name) => [`${name}:read`, `${name}:write`])
scopes.push('events:read', 'audit_log:read', 'reports:read')
export const role_scopes = createRoleScopes(scopeNames(resources), scopes)

export type Deps = {
  config: Pick<
    Config,
    | 'rate_limit_per_second'
    | 'trash_days'
    | 'max_webhooks'
    | 'booking_rate_per_second'
    | 'open_rate_per_second'
    | 'trusted_proxies'
    | 'cors_origins'
    | 'public_url'
    | 'max_import_mb'
    | 'smtp_url'
    | 'mail_from'
    | 'mail_reply_to'
  >
  database: Database
  clock: ServiceClock
  /** Whether all acknowledged writes survive a power cut. */
  isDurable: () => boolean
  seal: Seal
  /** Replaces the cost of new password hashes. */
  password_cost?: Cost | undefined
  dispatcher: Dispatcher
  /** Sends mails; null without SMTP_URL. */
  mailer: Mailer | null
  poller: Poller
  /** Makes spans of requests and writes; null without a collector. */
  tracer?: Tracer | null | undefined
  policy: TargetPolicy
  /** Without `api`, the process answers health checks and metrics only. */
  roles?: readonly ('api' | 'dispatcher')[]
  /** The other processes behind the same port, whose numbers /metrics adds. */
  peers?: Peers | undefined
  /** Readiness depends on it, and refusals during a stop. */
  phase: () => Phase
  /** Ends writes in steps. Its reason is their answer. */
  stopping?: AbortSignal | undefined
  /** Replaces the rate limits of this process. */
  limiter?: Limiter | null | undefined
  /** The built web app. Without it, / redirects to the documentation of the API. */
  web_files?: WebFiles | null | undefined
  logger?: FastifyBaseLogger
}

/** Builds the whole service over an open, migrated database. It does not listen yet. */
export async function buildApp(deps: Deps): Promise<App> {
  const { config, database, clock, phase, roles, limiter, web_files, logger } = deps
  const { db } = database
  const { trusted_proxies, cors_origins } = config
  const app = createServer(logger, { trusted_proxies, cors_origins, tracer: deps.tracer })
  healthRoutes(app, { db, phase, metrics: watchMetrics(app, deps) })
  if (roles && !roles.includes('api')) return app

  const find = (credential: Credential) => findCredential(db, credential)
  const recordUse = createAccessRecorder(db, clock)
  guardRoutes(app, createGate(find, clock, config.rate_limit_per_second, recordUse, limiter))
  limitOpenRoutes(app, config.open_rate_per_second, clock)
  await describeApi(app, resources, version)
  const service = createService(app, deps, find)
  const operations = collectOperations(app)
  addRoutes(app, service)
  revertRoute(app, service, rooms)
  mcpRoutes(app, { ...service, version }, operations)
  await importRoutes(app, service, rooms)
  await publicBooking(app, service)
  await unsubscribeRoutes(app, { ...service, config })
  await icsRoutes(app, { ...service, config })
  apiIndex(app)
  await docsPage(app)
  if (web_files) webApp(app, web_files, resources)
  else app.get('/', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/', 302))
  return app
}

function watchMetrics(app: App, { database, clock, isDurable, dispatcher, mailer, tracer, peers }: Deps) {
  const own = createProcessMetrics(database, version, tracer)
  app.addHook('onClose', async () => own.stop())
  const metrics = createMetrics(
    async () => ({
      ...(await queueNumbers(database.db, clock.elapsed())),
      ...(await mailNumbers(database.db, clock.elapsed())),
      oldest_work_seconds: await oldestWork(database.db, clock.now()),
    }),
    () => ({ ...clock.removal(), durable: isDurable() }),
    own,
    peers,
    mailer?.outcomes,
  )
  database.onGroup(metrics.groupCommitted)
  database.onSlow(metrics.statementHeld)
  dispatcher.onAttempt(metrics.attempted)
  metrics.watch(app)
  return metrics
}

type Routed = RoleService & WebhookService & MailService & BusyService & { streams: Streams }

function createService(
  app: App,
  deps: Deps,
  find: (credential: Credential) => Promise<Access | null>,
): Routed {
  const { config, database, clock, seal, tracer, dispatcher, policy, phase, stopping } = deps
  const { db, reading } = database
  const rights = createReadRights(resources)
  const streams = createStreams({
    database,
    clock,
    findAccess: find,
    rights,
    serving: () => phase() === 'ready',
    onError: (err) => app.log.error({ err }, 'following the events failed'),
  })
  return {
    resources,
    rights,
    db,
    reading,
    openSnapshot: limitSnapshots(database),
    write: createWriter({ db, clock, seal, tracer, stopping }),
    clock,
    seal,
    recheckAccess: createRecheckAccess(findCredential, clock),
    config,
    scopes,
    catalogue,
    event_names: catalogue.map((event) => event.name),
    role_scopes,
    password_cost: deps.password_cost,
    dispatcher,
    mailer: deps.mailer,
    poller: deps.poller,
    mail_settings: mailSettingsShown(config),
    buildBody: createBodies(config.public_url),
    findTitles: (db, workspace_id, records) => titlesOf(db, workspace_id, resources, records),
    policy,
    streams,
  }
}

const findCredential = (db: Db, { kind, hash }: Credential) =>
  kind === 'key' ? findAccess(db, hash) : findSession(db, role_scopes, hash)

function createAccessRecorder(db: Db, clock: ServiceClock) {
  const keyUsed = createUseRecorder(db, clock, recordKeyUse)
  const sessionUsed = createUseRecorder(db, clock, recordSessionUse)
  return ({ id, actor }: Access) => (actor.kind === 'person' ? sessionUsed(id) : keyUsed(id))
}

/** The parts of an export of the workspace besides records. */
const exported_others: Others = {
  workspace: async (db, { workspace_id }) => [
    { ...(await findWorkspace(db, workspace_id)), ...(await choicesOf(db, workspace_id)) },
  ],
  members: async (db, { workspace_id }) =>
    (await listMembers(db, workspace_id, { per_page: 100_000, offset: 0 })).records,
  saved_views: (db, { workspace_id, actor }) => listViews(db, workspace_id, actor, undefined),
  custom_fields: async (db, { workspace_id }) =>
    (await listDefinitions(db, workspace_id, undefined, { per_page: 10_000, offset: 0 })).records,
}

function addRoutes(app: App, service: Routed): void {
  for (const room of rooms) {
    room.routes(app, service)
    batchRoute(app, service, room)
  }
  duplicateRoutes(app, service)
  mergeRoutes(app, service, rooms)
  backfillRoutes(app, service, rooms)
  timelineRoutes(app, service, rooms)
  auditRoutes(app, service)
  workRoutes(app, service)
  trashRoutes(app, service)
  reportRoutes(app, service)
  searchRoutes(app, service)
  reassignmentRoutes(app, service, rooms)
  viewRoutes(app, service)
  notificationRoutes(app, service)
  calendarFeedRoutes(app, service)
  workspaceExportRoute(app, service, rooms, exported_others)
  customFieldRoutes(app, service)
  peopleRoutes(app, service)
  keyRoutes(app, service)
  webhookRoutes(app, service)
  webhookActionRoutes(app, service)
  deliveryRoutes(app, service)
  mailRoutes(app, service)
  busyCalendarRoutes(app, service)
  explainRoute(app, service)
  changeEventsRoute(app, service)
  feedRoutes(app, service)
}
