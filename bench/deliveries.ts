import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Agent } from 'undici'
import { isoTime } from '../src/clock.ts'
import { readConfig } from '../src/config.ts'
import { type Database, transaction } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { createSeal } from '../src/db/seal.ts'
import { contextOf } from '../src/events/context.ts'
import { bodyFor, emit } from '../src/events/emit.ts'
import { contactCreated } from '../src/resources/contacts/events.ts'
import { createSender } from '../src/webhooks/delivery/deliver.ts'
import { createDispatcher } from '../src/webhooks/delivery/dispatcher.ts'
import { generateSecret, signatureHeaders } from '../src/webhooks/delivery/signature.ts'
import { insertWebhook } from '../src/webhooks/registration/queries.ts'
import { removeWebhook } from '../src/webhooks/registration/removal.ts'
import { median } from './load.ts'
import { head } from './record.ts'

// Deliveries per second, compared with an undici client that posts requests of the same size and concurrency to the
// same receiver. The two take turns, so that a slow period of the machine slows both.

type Rates = { bare: number; rapport: number; ratio: number }
/** One line of the result. Rates are deliveries per second, medians of the rounds. */
type DeliveryRatio = Rates & { webhooks: number; lowest: number; highest: number }

type Options = {
  /** The URL of a PostgreSQL database, which may be empty. Null is SQLite in a scratch folder. */
  database_url: string | null
  /** Deliveries in one round. */
  count: number
  rounds: number
  /** The numbers of webhooks that share the deliveries, one after another. */
  webhooks: readonly number[]
}

const workspace_id = 1
const per_webhook = 32
const secret = generateSecret()

/** Measures deliveries. Throws if one was lost, sent twice or has an invalid signature. */
export async function deliveries(options: Options): Promise<DeliveryRatio[]> {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-bench-'))
  const receiver = await startReceiver()
  const { database_url } = options
  const database = await openDatabase({ ...readConfig({}), data_dir, database_url })
  try {
    await migrate(database)
    const lines: DeliveryRatio[] = []
    for (const webhooks of options.webhooks) lines.push(await compare(database, receiver, webhooks, options))
    return lines
  } finally {
    await database.close()
    receiver.close()
    rmSync(data_dir, { recursive: true })
  }
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

async function startReceiver() {
  const child = fork(new URL('./receiver.ts', import.meta.url), { stdio: 'inherit' })
  const [{ port }] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${port}/hook`,
    /** The requests since the last report. */
    async report(): Promise<{ requests: number; distinct: number; bad_signatures: number }> {
      child.send(secret)
      return (await once(child, 'message'))[0]
    },
    close: () => child.disconnect(),
  }
}

async function compare(database: Database, receiver: Receiver, webhooks: number, options: Options) {
  const { count, rounds } = options
  const seal = createSeal('a key for the bench')
  const ids = Array.from({ length: webhooks }, (_, n) => `wh_${n}`)
  const now = isoTime(database.clock.now())
  await transaction(database.db, async (tx) => {
    for (const id of ids) {
      const webhook = { id, name: null, url: `${receiver.url}/${id}`, secret: seal.seal(secret) }
      await insertWebhook(tx, workspace_id, now, { ...webhook, events: [contactCreated.name] })
    }
  })
  const check = async (who: string) => {
    const { requests, distinct, bad_signatures } = await receiver.report()
    if (distinct !== count || requests !== count || bad_signatures)
      throw new Error(
        `${who}: of ${count}, ${distinct} came in ${requests} requests; ${bad_signatures} unsigned.`,
      )
  }

  const all: Rates[] = []
  // The first round is a warm-up.
  for (let round = 0; round <= rounds; round++) {
    await preload(database, Math.ceil(count / webhooks))
    const bare = await postAll(receiver.url, await requestsOf(database, count), per_webhook * webhooks)
    await check('bare')
    const rapport = count / (await dispatchAll(database, seal))
    await check('Rapport')
    if (round > 0) all.push({ bare, rapport, ratio: rapport / bare })
  }
  await transaction(database.db, async (tx) => {
    for (const id of ids) await removeWebhook(tx, workspace_id, id, now)
  })
  const ratios = all.map(({ ratio }) => ratio)
  return {
    webhooks,
    bare: median(all.map(({ bare }) => bare)),
    rapport: median(all.map(({ rapport }) => rapport)),
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
  }
}

/** Writes events and their deliveries with the function of the service. */
async function preload({ db, clock }: Database, events: number): Promise<void> {
  for (let from = 0; from < events; from += 500)
    await transaction(db, async (tx) => {
      const now_ms = clock.now()
      const context = contextOf(
        { now: () => now_ms, elapsed: () => now_ms },
        { workspace_id, actor: { kind: 'service', id: null }, request_id: null },
      )
      for (let n = from; n < Math.min(events, from + 500); n++)
        await emit(tx, context, contactCreated, { ...contactCreated.example, id: n + 1 })
    })
}

type Post = { headers: Record<string, string>; body: string }

/** The requests of the deliveries in the queue. */
async function requestsOf({ db }: Database, limit: number): Promise<Post[]> {
  const rows = await db
    .selectFrom('webhook_queue as q')
    .innerJoin('webhook_deliveries as d', 'd.id', 'q.delivery_id')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .select(['q.delivery_id', 'q.webhook_id', 'd.event', 'e.payload'])
    .orderBy('q.run_at_ms')
    .limit(limit)
    .execute()
  return rows.map(({ delivery_id, webhook_id, event, payload }) => {
    const body = bodyFor(payload, webhook_id)
    const timestamp = Math.floor(Date.now() / 1000)
    const headers = {
      'Content-Type': 'application/json',
      'X-Service-Event': event,
      'X-Service-Delivery': delivery_id,
      ...signatureHeaders({ secrets: [secret], delivery_id, timestamp, body }),
      'user-agent': 'Rapport-Webhooks/0.0.0',
      'accept-encoding': 'identity',
    }
    return { headers, body }
  })
}

/** Posts requests with a concurrency, and returns requests per second. */
async function postAll(url: string, requests: Post[], concurrency: number): Promise<number> {
  const agent = new Agent({ connections: concurrency, pipelining: 1, keepAliveTimeout: 30_000 })
  const { origin, pathname } = new URL(url)
  let next = 0
  const before = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let post = requests[next++]; post; post = requests[next++]) {
        const { statusCode, body } = await agent.request({ origin, path: pathname, method: 'POST', ...post })
        await body.text()
        if (statusCode !== 200) throw new Error(`The receiver answered ${statusCode}.`)
      }
    }),
  )
  const seconds = (performance.now() - before) / 1000
  await agent.close()
  return requests.length / seconds
}

/** Delivers the queue as the service does, and returns the seconds until the last outcome was written. */
async function dispatchAll(database: Database, seal: ReturnType<typeof createSeal>): Promise<number> {
  const { db } = database
  const clock = { ...database.clock, elapsed: database.clock.now }
  const policy = { allowed_networks: [], allow_private: true } as never
  const timeout_ms = 10_000
  const sender = createSender({ policy, timeout_ms, version: '0.0.0', now: clock.now })
  const onError = (error: unknown) => console.error(error)
  const retry_delays = [60]
  const dispatcher = createDispatcher({ database, clock, seal, sender, retry_delays, timeout_ms, onError })
  const left = () => db.selectFrom('webhook_queue').select('delivery_id').limit(1).executeTakeFirst()
  const before = performance.now()
  dispatcher.start()
  // Query the queue only if no attempt is in flight: on PostgreSQL such a query costs as much as a claim.
  while (dispatcher.in_flight() > 0 || (await left())) await pause(2)
  const seconds = (performance.now() - before) / 1000
  await dispatcher.stop(1000)
  await sender.close()
  return seconds
}

/** The results as the lines of a table. */
export const deliveryTable = (engine: string, lines: DeliveryRatio[]): string[] =>
  lines.map((line) => {
    const rate = (n: number) => Math.round(n).toLocaleString('en')
    const name = `deliveries, ${line.webhooks} webhook${line.webhooks === 1 ? '' : 's'}, ${engine}`
    const ratios = `${line.lowest.toFixed(2)} – ${line.highest.toFixed(2)}`
    return `| ${[name, rate(line.bare), rate(line.rapport), line.ratio.toFixed(2), ratios, '≥ 0.4'].join(' | ')} |`
  })

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', default: 'sqlite' },
      // The URL of an empty database. By default a PostgreSQL server is started.
      database: { type: 'string' },
      count: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '5' },
    },
  })
  const { startPostgres } = await import('../test/postgres.ts')
  const started =
    values.engine === 'postgres' && !values.database
      ? await startPostgres({ fsync: true, settings: { autovacuum: 'on' } })
      : null
  const database_url = values.database ?? started?.url ?? null
  try {
    const count = Number(values.count)
    const lines = await deliveries({ database_url, count, rounds: Number(values.rounds), webhooks: [1, 10] })
    const table = deliveryTable(values.engine, lines)
    console.log([...head('bare, per second', 'Rapport, per second', 'ratio'), ...table].join('\n'))
  } finally {
    await started?.stop()
  }
}
