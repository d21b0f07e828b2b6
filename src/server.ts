import { rmSync, writeFileSync } from 'node:fs'
import { BlockList, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { insertKey } from './access/keys/keys.ts'
import type { Cost } from './access/people/passwords.ts'
import type { Role } from './access/people/roles.ts'
import { makeSetupToken } from './access/people/setup.ts'
import { firstWorkspace } from './access/workspaces.ts'
import { noticeMails } from './across/notifications/mails.ts'
import { watchZones } from './across/zones/watch.ts'
import { buildApp, createBodies, role_scopes } from './app.ts'
import { createPoller } from './busy/poll.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { reclaimCalendars } from './db/busy.ts'
import { type Db, type Tx, transaction } from './db/db.ts'
import { watchDurability } from './db/durability.ts'
import { lockFolder } from './db/engines/sqlite/lock.ts'
import { troubleOf } from './db/errors.ts'
import { firstKeyFile, giveToOwner, makeFolder } from './db/folder.ts'
import type { Waits } from './db/locks.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { checkSeal, createSeal, lastingMac, readSecretKey, removePartialKeys } from './db/seal.ts'
import { unopenedValues } from './db/sealed.ts'
import { type GivenClock, keepServiceClock } from './db/service-clock.ts'
import { endLeases } from './db/work.ts'
import { stopped } from './errors.ts'
import { contextOf, service } from './events/context.ts'
import { trusted } from './http/authorities.ts'
import type { Phase } from './http/health.ts'
import { freeReservations } from './http/idempotency.ts'
import type { Peers } from './http/metrics.ts'
import { awaitHandlers } from './http/running-handlers.ts'
import { createReadRights } from './http/scopes.ts'
import type { App } from './http/server.ts'
import { openSharedLimiter, type RedisLimits } from './http/shared-rate-limit.ts'
import { releaseImports } from './imports/store.ts'
import { jobs } from './jobs/jobs.ts'
import { startJobs, type Timing } from './jobs/run.ts'
import { reclaimMails } from './mails/claim.ts'
import { setMailing } from './mails/mailing.ts'
import { createMailing, openMailer } from './mails/open.ts'
import { resources } from './resources/index.ts'
import { openTracer } from './telemetry/open.ts'
import { version } from './version.ts'
import { visible } from './visible.ts'
import type { WebFiles } from './web/files.ts'
import { createDispatcher, type Dispatcher } from './webhooks/delivery/dispatcher.ts'
import { createLateSender } from './webhooks/delivery/late-sender.ts'
import { parseProxy } from './webhooks/delivery/proxy.ts'
import { reclaimAll } from './webhooks/delivery/queue.ts'
import { anyWebhook } from './webhooks/registration/queries.ts'
import { parseNetworks, type TargetPolicy } from './webhooks/registration/target.ts'
import { setZoneFolder } from './zones/zones.ts'

export type Running = {
  url: string
  /** The first API key, if this start made it, and the file that keeps it; null if no file could be written. */
  first_key: string | null
  first_key_file: string | null
  /** The link to create the first account, while there is none. Each start makes a new one and shows it once. */
  setup_url: string | null
  /** Looks for due deliveries at once. Tests call it after they set the clock. */
  wake(): void
  /** Lets requests and attempts in flight finish within 15 s, ends the rest, and closes everything. */
  stop(): Promise<void>
}

/** The roles of a process: to answer the API, to attempt deliveries. Every process answers health and metrics. */
export const roles = ['api', 'dispatcher'] as const
export type ProcessRole = (typeof roles)[number]

type Options = {
  /** In place of the database's clock. */
  clock?: GivenClock
  /** Replaces the timing of the jobs that depend on whether removal is held. */
  removal?: Timing
  /** Replaces the cost of new password hashes. */
  password_cost?: Cost
  /** Replaces how long PostgreSQL is waited for. */
  waits?: Waits
  /** Replaces how long after the begin of a stop a request in steps may continue. */
  last_step_ms?: number
  /** Replaces the limits of Redis. */
  redis_limits_ms?: RedisLimits
  roles?: readonly ProcessRole[]
  /**
   * `own`: this process locks the SQLite folder. Otherwise, its parent has the lock, and this process is the first one
   * on the folder (`given`) or one of several (`shared`).
   */
  folder?: 'own' | 'given' | 'shared'
  /** The other processes behind the same port. */
  peers?: Peers
  /** The built web app. Without it, no web app is served. */
  web_files?: WebFiles | null
}

const drain_ms = 15_000
// A request in steps ends earlier, between two steps, so that its answer arrives before its connection is closed.
const default_last_step_ms = 10_000
// A stop then waits this long for handlers whose connections it closed.
const last_work_ms = 3000
const unopened_hint =
  'The key does not open these values, so their webhooks fail. Set SECRET_KEY_OLD to the key that sealed them and run rapport rekey, or rotate these secrets and set these headers again.'
// A start waits this long for the database: both may be started together.
const patience_ms = 15_000

/** Starts the service; resolves when it answers requests. */
export async function startServer(
  config: Config,
  {
    clock: given,
    removal,
    password_cost,
    waits = {},
    last_step_ms = default_last_step_ms,
    redis_limits_ms,
    roles: mine = roles,
    folder = 'own',
    peers,
    web_files = null,
  }: Options = {},
): Promise<Running> {
  const hooks = { streamWrite: (line: string) => `${visible(line.trimEnd())}\n` }
  const logger = pino({ level: config.log_level, hooks })
  setZoneFolder(config.tzdir)
  const onError = (error: unknown, job?: string) =>
    logger.error({ err: error, job }, 'a task of the service failed')
  // A stop and a failed start close everything in the opposite order.
  const closing: (() => unknown)[] = []
  // One process serves a SQLite folder, alone or with the processes that it started. PostgreSQL serves any number.
  const sqlite = config.database_url === null
  if (sqlite && folder === 'own') closing.push(lockFolder(config.data_dir))
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await Promise.try(step).catch(onError)
  }
  let phase: Phase = 'starting'
  let stopping: Promise<void> | undefined
  try {
    const onWait = (error: unknown) => logger.warn({ err: error }, 'waiting for the database')
    const database = await patiently(() => openDatabase({ ...config, ...waits }), onWait)
    closing.push(() => database.close())
    await patiently(() => migrate(database, undefined, { onWait }), onWait)
    const { db } = database
    const durability = await patiently(() => watchDurability(database, logger), onWait)
    const clock = await patiently(() => keepServiceClock(database, { given, logger }), onWait)
    const seal = createSeal(readSecretKey(config.secret_key, config.data_dir), config.secret_key_old)
    removePartialKeys(config.data_dir)
    const weak = await patiently(() => checkSeal(db, seal, config.secret_key), onWait)
    if (weak) logger.error(weak)
    const unopened = await patiently(() => unopenedValues(db, seal), onWait)
    if (unopened.length) logger.error({ unopened }, unopened_hint)

    const onLost = (code: string) => logger.warn({ code }, 'traces could not be sent')
    const tracer = await openTracer(config, onLost)
    closing.push(() => tracer?.close())

    const policy = targetPolicy(config)
    const timeout_ms = config.webhook_timeout_ms
    const { webhook_proxy_url, webhook_ca_file } = config
    const proxy = webhook_proxy_url ? parseProxy(webhook_proxy_url) : null
    const secureContext = trusted('WEBHOOK_CA_FILE', webhook_ca_file)
    const sender = createLateSender({ policy, proxy, secureContext, timeout_ms, version, now: clock.now })
    closing.push(() => sender.close('at once'))
    const retry_delays = config.webhook_retry_delays
    const dispatcher = createDispatcher({
      database,
      clock,
      seal,
      sender,
      buildBody: createBodies(config.public_url),
      retry_delays,
      timeout_ms,
      tracer,
      onError,
    })

    let url = config.public_url ?? ''
    const rights = createReadRights(resources)
    const readableKinds = (role: string) => rights.readableKinds(role_scopes.of(role as Role))
    const mailing = createMailing(config, seal, {
      mac: await patiently(() => lastingMac(db, seal), onWait),
      base: () => config.public_url ?? url,
      mailNotices: noticeMails({ clock, resources, readableKinds }),
    })
    setMailing(db, mailing)
    const mailer = openMailer(config, { db, clock, seal, mailing, onError })
    closing.push(() => mailer?.close())

    const fetching = { policy, proxy, secureContext, version }
    const poller = createPoller({ db, clock, seal, fetching, zone_folder: config.tzdir })

    const { redis_url, rate_limit_per_second: per_second } = config
    const answers_api = mine.includes('api')
    const shared_limiter = answers_api
      ? await openSharedLimiter({ redis_url, per_second, clock, logger, limits_ms: redis_limits_ms })
      : null
    closing.push(() => shared_limiter?.close())

    const steps = new AbortController()
    const app = await buildApp({
      config,
      database,
      clock,
      isDurable: durability.isDurable,
      seal,
      password_cost,
      dispatcher,
      mailer,
      poller,
      tracer,
      policy,
      phase: () => phase,
      stopping: steps.signal,
      roles: mine,
      peers,
      limiter: shared_limiter?.limit,
      web_files,
      logger: logger as never,
    })
    closing.push(async () => {
      await app.close()
      await awaitHandlers(app, last_work_ms)
    })
    const connections = openConnections(app)
    url = await app.listen({ port: config.port, host: config.host })
    // Not earlier: a slow statement of the start delays no request.
    database.onSlow(tellSlow(logger))
    // No other process uses the folder, so the owners of these leases have ended.
    if (sqlite && folder !== 'shared') await transaction(db, (tx) => reclaim(tx, clock.elapsed()))
    // As late as possible: a start that fails must not create a key, because it would never be shown.
    const keep = (token: string) => keepFirstKey(config.data_dir, token, onError)
    const first = answers_api ? await patiently(() => firstKey(db, clock, keep), onWait) : null
    // One process of each start makes a new link. Older links are no longer valid.
    const offers = answers_api && folder !== 'shared'
    const token = offers ? await patiently(() => transaction(db, makeSetupToken), onWait) : null
    const setup_url = token && `${config.public_url ?? url}/setup#${token}`
    const lookAtZones = watchZones(db, clock, config.tzdir, logger)
    const work = jobs({ db, clock, durability, seal, lookAtZones, readableKinds, mailer, poller, config })
      .filter(({ role }) => !role || mine.includes(role))
      .map((job) => (job.held ? { ...job, ...removal } : job))
    closing.push(startJobs(work, { clock, onCommit: database.onCommit, onError }))
    // An update may replace the files of this program before its first delivery.
    if (await patiently(() => anyWebhook(db), onWait)) sender.load().catch(onError)
    if (mine.includes('dispatcher')) dispatcher.start()
    phase = 'ready'

    const stop = () => {
      phase = 'stopping'
      stopping ??= drain(app, { connections, steps, last_step_ms, dispatcher, close })
      return stopping
    }
    return {
      url,
      first_key: first?.token ?? null,
      first_key_file: first?.file ?? null,
      setup_url,
      wake: dispatcher.wake,
      stop,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type Draining = {
  connections: Set<Socket>
  steps: AbortController
  last_step_ms: number
  dispatcher: Dispatcher
  close: () => Promise<void>
}

/** Lets attempts in flight end, then closes the server and everything that the start opened. */
async function drain(
  app: App,
  { connections, steps, last_step_ms, dispatcher, close }: Draining,
): Promise<void> {
  const { server } = app
  const began_ms = performance.now()
  const last_step = setTimeout(() => steps.abort(stopped()), last_step_ms)
  const late = setTimeout(() => server.closeAllConnections(), drain_ms)
  // Requests get 503 until no attempt is in flight.
  await dispatcher.stop(drain_ms)
  // Close idle connections. Otherwise, keep-alive connections stay open after their answer. Browsers open connections
  // in advance: without a byte received, they would stay open without a limit.
  const sweep = setInterval(() => {
    server.closeIdleConnections()
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }, 50)
  // A closed app refuses the calls by which a handler uses its own API.
  await awaitHandlers(app, drain_ms - (performance.now() - began_ms))
  await close()
  clearInterval(sweep)
  clearTimeout(late)
  clearTimeout(last_step)
}

async function reclaim(tx: Tx, elapsed_ms: number): Promise<void> {
  await reclaimAll(tx, elapsed_ms)
  await reclaimMails(tx, elapsed_ms)
  await reclaimCalendars(tx, elapsed_ms)
  await releaseImports(tx, elapsed_ms)
  await endLeases(tx, elapsed_ms)
  await freeReservations(tx, elapsed_ms)
}

// A slow disk makes every statement slow, so log at most one line a second.
function tellSlow(logger: Logger) {
  let last_ms = -Infinity
  return (statement: string, duration_ms: number) => {
    if (performance.now() - last_ms < 1000) return
    last_ms = performance.now()
    logger.warn({ statement, duration_ms }, 'a statement blocked all requests')
  }
}

/** Does the work. While the database is unavailable, repeats it every 0.5 s, for at most 15 s. */
async function patiently<T>(work: () => Promise<T>, onWait: (error: unknown) => void): Promise<T> {
  const start = performance.now()
  for (let waited = false; ; waited = true) {
    try {
      return await work()
    } catch (error) {
      if (troubleOf(error) !== 'unavailable' || performance.now() - start > patience_ms) throw error
      if (!waited) onWait(error)
      await pause(500)
    }
  }
}

function openConnections(app: App): Set<Socket> {
  const connections = new Set<Socket>()
  app.server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return connections
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

// A caller of a server that listens on loopback only is on this machine already. TRUSTED_PROXIES and PUBLIC_URL say
// that a proxy on this machine lets others in (contract: webhooks, url).
function targetPolicy(config: Config): TargetPolicy {
  const { host, webhook_allowed_networks: networks } = config
  const local = host === 'localhost' || loopback.check(host, host.includes(':') ? 'ipv6' : 'ipv4')
  const reached_by_others = config.trusted_proxies.length > 0 || config.public_url !== null
  return {
    allowed_networks: parseNetworks(networks.join(',')),
    allow_private: local && !reached_by_others && networks.length === 0,
  }
}

// An empty installation gets a workspace and a key, both or neither. So the first request needs no set-up. The file is written
// before the commit: nothing else has the key after a crash. If the commit fails, the file's key is not valid. The next
// start that makes a key replaces the file.
const firstKey = (db: Db, clock: Clock, keep: (token: string) => string | null) =>
  transaction(db, async (tx) => {
    const workspace_id = await firstWorkspace(tx, clock, service)
    if (workspace_id === null) return null
    const context = contextOf(clock, { workspace_id, actor: service, request_id: null })
    const { token } = await insertKey(tx, context, { name: 'First key', scopes: null, expires_at: null })
    return { token, file: keep(token) }
  })

/** Writes the key into a file that only this user reads, and returns its path. Returns null if the folder takes no file. */
function keepFirstKey(data_dir: string, key: string, onError: (error: unknown) => void): string | null {
  const file = resolve(firstKeyFile(data_dir))
  try {
    makeFolder(data_dir, 0o700)
    // An old file may be readable by others, or be a link.
    rmSync(file, { force: true })
    writeFileSync(file, `${key}\n`, { flag: 'wx', mode: 0o600, flush: true })
    giveToOwner(file)
    return file
  } catch (error) {
    onError(error)
    return null
  }
}
