import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent } from 'undici'
import { isoTime } from '../src/clock.ts'
import { readConfig } from '../src/config.ts'
import { type Database, transaction } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { createSeal } from '../src/db/seal.ts'
import { type Context, contextOf } from '../src/events/context.ts'
import { bodyFor, emit } from '../src/events/emit.ts'
import { contactCreated } from '../src/resources/contacts/events.ts'
import { createSender } from '../src/webhooks/delivery/deliver.ts'
import { createDispatcher } from '../src/webhooks/delivery/dispatcher.ts'
import { generateSecret, signatureHeaders } from '../src/webhooks/delivery/signature.ts'
import { insertWebhook } from '../src/webhooks/registration/queries.ts'
import { removeWebhook } from '../src/webhooks/registration/removal.ts'
import { inTurn, median } from './load.ts'
import { type Receiver, startReceiver } from './receivers.ts'
import { head, line, quotients, whole } from './record.ts'

// Deliveries per second, compared with an undici client that posts requests of the same size to the same receiver with the
// same concurrency. Client and dispatcher run in this process.

type Options = {
  /** The URL of a PostgreSQL database without tables. Null is SQLite in a scratch folder. */
  database_url: string | null
  /** Deliveries in one round. */
  count: number
  rounds: number
  /** The ratios with 1 and with 10 webhooks. */
  wanted: readonly [number, number]
  /** Rapport is compared with it. Returns requests per second. By default, a client without a queue. */
  other?: { name: string; postAll: PostAll }
}

/** A request of a delivery, already signed. */
export type Post = { headers: Record<string, string>; body: string }
export type PostAll = (url: string, posts: Post[], concurrency: number) => Promise<number>

const workspace_id = 1
const per_webhook = 32
const secret = generateSecret()

/** Returns the table of ratios. Throws if a delivery was lost, sent twice or has an invalid signature. */
export const measureDeliveries = (options: Options): Promise<string[]> =>
  withReceiver(options.database_url, async (database, receiver) => {
    const lines = head(
      'request',
      `${options.other?.name ?? 'bare'}, per second`,
      'Rapport, per second',
      'ratio (median)',
    )
    for (const [n, webhooks] of [1, 10].entries())
      lines.push(await compare(database, receiver, webhooks, options.wanted[n] as number, options))
    return lines
  })

const conditions = JSON.stringify([
  { field: 'data.email', op: 'contains', value: '@' },
  { field: 'data.company_id', op: 'ne', value: 0 },
  { field: 'actor.kind', op: 'in', value: ['service', 'key'] },
])
const plain = { conditions: null, ordered: 0 } as const
const option_sets = {
  plain,
  'with three conditions': { ...plain, conditions },
  ordered: { ...plain, ordered: 1 },
} as const

/** Compares webhooks with options to one without: the time to write the events, judge them and deliver them. */
export const measureOptions = ({ database_url, count, rounds }: Omit<Options, 'wanted'>): Promise<string[]> =>
  withReceiver(database_url, async (database, receiver) => {
    const seal = createSeal('a key for the bench')
    const webhook = { id: 'wh_0', name: null, url: receiver.url, secret: seal.seal(secret) }
    const now = isoTime(database.clock.now())
    await transaction(database.db, (tx) =>
      insertWebhook(tx, workspace_id, now, { ...webhook, events: [contactCreated.name] }),
    )
    const names = Object.keys(option_sets) as (keyof typeof option_sets)[]
    const rates = await inTurn(names, rounds, async (name) => {
      await transaction(database.db, (tx) => tx.updateTable('webhooks').set(option_sets[name]).execute())
      const before = performance.now()
      await preload(database, count)
      await dispatchAll(database, seal)
      const rate = (count / (performance.now() - before)) * 1000
      const { distinct } = await receiver.report(secret)
      if (distinct !== count) throw new Error(`${name}: of ${count}, ${distinct} came.`)
      return rate
    })
    const lines = head('deliveries', 'plain, per second', 'with the option, per second', 'ratio (median)')
    for (const name of names.slice(1)) {
      const cells = [name, whole(median(rates.plain)), whole(median(rates[name]))]
      lines.push(line(cells, quotients(rates[name], rates.plain), { least: 0.9 }))
    }
    return lines
  })

/** Runs a measurement with an empty database and a receiver. */
async function withReceiver(
  database_url: string | null,
  measure: (database: Database, receiver: Receiver) => Promise<string[]>,
): Promise<string[]> {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-bench-'))
  const receiver = await startReceiver()
  const database = await openDatabase({ ...readConfig({}), data_dir, database_url })
  try {
    await migrate(database)
    return await measure(database, receiver)
  } finally {
    await database.close()
    receiver.close()
    rmSync(data_dir, { recursive: true })
  }
}

async function compare(
  database: Database,
  receiver: Receiver,
  webhooks: number,
  least: number,
  { count, rounds, other = { name: 'bare', postAll } }: Omit<Options, 'database_url'>,
): Promise<string> {
  const seal = createSeal('a key for the bench')
  const ids = Array.from({ length: webhooks }, (_, n) => `wh_${n}`)
  const now = isoTime(database.clock.now())
  await transaction(database.db, async (tx) => {
    for (const id of ids) {
      const webhook = { id, name: null, url: `${receiver.url}/${id}`, secret: seal.seal(secret) }
      await insertWebhook(tx, workspace_id, now, { ...webhook, events: [contactCreated.name] })
    }
  })
  const send = {
    // The bare client reads the events here. Rapport delivers them afterwards.
    async bare() {
      await preload(database, Math.ceil(count / webhooks))
      return other.postAll(receiver.url, await requestsOf(database, count), per_webhook * webhooks)
    },
    rapport: async () => count / (await dispatchAll(database, seal)),
  }
  const rates = await inTurn(['bare', 'rapport'], rounds, async (side) => {
    const rate = await send[side]()
    const { requests, distinct, bad_signatures } = await receiver.report(secret)
    if (distinct === count && requests === count && !bad_signatures) return rate
    throw new Error(
      `${side}: of ${count}, ${distinct} came in ${requests} requests; ${bad_signatures} unsigned.`,
    )
  })
  await transaction(database.db, async (tx) => {
    for (const id of ids) await removeWebhook(tx, contextAt(database.clock), id)
  })
  const name = `deliveries, ${webhooks} webhook${webhooks === 1 ? '' : 's'}`
  const cells = [name, whole(median(rates.bare)), whole(median(rates.rapport))]
  return line(cells, quotients(rates.rapport, rates.bare), { least })
}

// With 10 webhooks, as many deliveries as a transaction inserts itself (events/deliveries.ts).
const events_at_once = 200

function contextAt(clock: Database['clock']): Context {
  const now_ms = clock.now()
  const actor = { kind: 'service', id: null } as const
  return contextOf({ now: () => now_ms, elapsed: () => now_ms }, { workspace_id, actor, request_id: null })
}

/** Writes events and their deliveries with the function of the service. */
async function preload({ db, clock }: Database, events: number): Promise<void> {
  for (let from = 0; from < events; from += events_at_once)
    await transaction(db, async (tx) => {
      const context = contextAt(clock)
      for (let n = from; n < Math.min(events, from + events_at_once); n++)
        await emit(tx, context, contactCreated, { ...contactCreated.example, id: n + 1 })
    })
}

/** The requests of the deliveries in the queue. */
async function requestsOf({ db }: Database, limit: number): Promise<Post[]> {
  const rows = await db
    .selectFrom('webhook_queue as q')
    .innerJoin('webhook_deliveries as d', 'd.id', 'q.delivery_id')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .select(['q.delivery_id', 'q.webhook_id', 'd.event', 'e.seq', 'e.payload'])
    .orderBy('q.run_at_ms')
    .limit(limit)
    .execute()
  return rows.map(({ delivery_id, webhook_id, event, seq, payload }) => {
    const body = bodyFor({ seq, payload }, webhook_id)
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
