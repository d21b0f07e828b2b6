import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Service, startService } from '../faults/service.ts'
import { client, type Reply } from '../harness.ts'
import { createDatabase, startPostgres } from '../postgres.ts'
import { scratchFolder } from '../process.ts'
import { type Received, verifySignatures } from '../receiver.ts'
import { register } from '../webhooks.ts'

// How long there are writes and faults. Afterwards the leases of those that were killed have to run out.
const seconds = Number(process.env.FAULT_SECONDS ?? 60)
const timeout_ms = 3000
const lease_ms = timeout_ms + 30_000

const key_of = { contacts: 'contact', companies: 'company', deals: 'deal' } as const
type Resource = keyof typeof key_of

/** Records every request; each takes a moment, so that two at once of one delivery are seen. */
async function startRecorder() {
  const received: Received[] = []
  const open = new Map<string, number>()
  const overlaps: string[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const id = String(headers['x-service-delivery'])
    if (open.get(id)) overlaps.push(id)
    open.set(id, (open.get(id) ?? 0) + 1)
    // The end of the request, whoever ends it.
    response.once('close', () => open.set(id, (open.get(id) ?? 0) - 1))
    const body = await text(request).catch(() => null)
    if (body === null) return
    received.push({ at_ms: Date.now(), method, path, headers, body })
    await pause(20)
    // Now and then an endpoint fails: the next attempt is another process's as likely as not.
    response.writeHead(received.length % 50 ? 200 : 500).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    overlaps,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** What an acknowledged write did: this must be stored, and told by these events. */
type Acknowledged = { resource: Resource; id: number; mark: string; events: string[]; field?: string }

const below = (limit: number) => Math.floor(Math.random() * limit)
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T

/** A client that writes until it is told to stop; it goes from process to process. */
function createWriter(urls: () => string[], key: string, shared: { contact: number; deal: number }) {
  const acknowledged: Acknowledged[] = []
  /** Marks of what was refused: no event may ever tell of it. */
  const refused: string[] = []
  const answers = new Map<number, number>()
  const own: { resource: Resource; id: number; live: boolean }[] = []

  async function send(method: string, path: string, body?: object, headers = {}): Promise<Reply | null> {
    const reply = await client(oneOf(urls()), key)(method, path, body, headers).catch(() => null)
    answers.set(reply?.status ?? 0, (answers.get(reply?.status ?? 0) ?? 0) + 1)
    if (reply?.status === 503) assert.ok(Number(reply.headers.get('retry-after')) >= 1, reply.text)
    assert.ok(reply?.status !== 500, reply?.text)
    return reply
  }

  // One record, however often it has to be asked for: a repetition of the key finds what was made.
  async function create(stop: () => boolean): Promise<void> {
    const resource = oneOf(['contacts', 'companies', 'deals'] as const)
    const mark = randomUUID()
    const body = resource === 'contacts' ? { first_name: 'Ana', last_name: mark } : { name: mark }
    const headers = { 'idempotency-key': mark }
    for (;;) {
      const reply = await send('POST', `/api/v1/${resource}`, body, headers)
      if (reply && reply.status !== 503) {
        // 409: the first request is still in flight, although its process may be gone.
        if (reply.status === 409) continue
        assert.equal(reply.status, 201, reply.text)
        const { id } = reply.body.data
        own.push({ resource, id, live: true })
        acknowledged.push({ resource, id, mark, events: [`${key_of[resource]}.created`] })
        return
      }
      if (stop()) return
      await pause(50)
    }
  }

  async function changeStage(): Promise<void> {
    const deal = own.find(({ resource, live }) => resource === 'deals' && live)
    if (!deal) return
    const mark = randomUUID()
    const body = { stage: 'lost', lost_reason: mark }
    const reply = await send('POST', `/api/v1/deals/${deal.id}/change-stage`, body)
    own.splice(own.indexOf(deal), 1)
    if (reply?.status === 200)
      acknowledged.push({ resource: 'deals', id: deal.id, mark, events: ['deal.lost'], field: 'lost_reason' })
  }

  async function changeShared(): Promise<void> {
    const mark = randomUUID()
    const [resource, id, body] = below(2)
      ? (['contacts', shared.contact, { title: mark }] as const)
      : (['deals', shared.deal, { source: mark }] as const)
    const reply = await send('PUT', `/api/v1/${resource}/${id}`, body)
    if (reply?.status === 200)
      acknowledged.push({ resource, id, mark, events: [`${key_of[resource]}.updated`] })
  }

  async function remove(): Promise<void> {
    const one = oneOf(own)
    if (!one?.live) return
    const reply = await send('DELETE', `/api/v1/${one.resource}/${one.id}`)
    one.live = false
    if (reply?.status !== 200) return
    acknowledged.push({ ...one, mark: '', events: [`${key_of[one.resource]}.deleted`] })
    if (below(2)) return
    const back = await send('POST', `/api/v1/${one.resource}/${one.id}/restore`)
    if (back?.status !== 200) return
    acknowledged.push({ ...one, mark: '', events: [`${key_of[one.resource]}.updated`] })
  }

  // Refused by the schema, by a rule, by a reference and by a key that was used: some after a part was written.
  async function beRefused(): Promise<void> {
    const mark = randomUUID()
    const path = '/api/v1/deals'
    const wrong = [
      () => send('POST', path, { name: mark, contact_id: 999_999_999 }),
      () => send('POST', path, { name: mark, probability: 101 }),
      () => send('PUT', `${path}/${shared.deal}`, { name: mark, stage: 'lost' }),
      () => send('PUT', `${path}/${shared.deal}`, { name: mark, company_id: 999_999_999 }),
      async () => {
        const [first] = acknowledged.filter(({ resource, mark }) => resource === 'companies' && mark)
        if (!first) return null
        return send('POST', '/api/v1/companies', { name: mark }, { 'idempotency-key': first.mark })
      },
    ]
    const reply = await oneOf(wrong)()
    if (reply && reply.status !== 503) assert.ok([422, 409].includes(reply.status), reply.text)
    refused.push(mark)
  }

  return {
    acknowledged,
    refused,
    answers,
    async run(stop: () => boolean) {
      while (!stop()) {
        const dice = below(100)
        if (dice < 45) await create(stop)
        else if (dice < 60) await changeShared()
        else if (dice < 75) await changeStage()
        else if (dice < 88) await remove()
        else await beRefused()
        await pause(below(20))
      }
    },
  }
}

test('four processes on one PostgreSQL, kill -9 and restarts of the database: no event is lost, made up, or sent by two at once', async (t) => {
  const server = await startPostgres({ fsync: true })
  t.after(() => server.stop())
  const DATABASE_URL = await createDatabase(server.url, 'faults')
  const env = {
    DATABASE_URL,
    SECRET_KEY: 'a key for tests',
    WEBHOOK_TIMEOUT_MS: String(timeout_ms),
    WEBHOOK_RETRY_DELAYS: '0.5,1,1,1,1',
    LOG_LEVEL: 'fatal',
  }
  const data_dir = scratchFolder(t)
  const roles = ['api,dispatcher', 'api,dispatcher', 'api', 'dispatcher']
  const services: (Service | null)[] = []
  t.after(() => Promise.all(services.map((service) => service?.end('SIGKILL'))))
  let key = ''
  for (const list of roles) {
    const service = await startService(data_dir, { env, key, words: ['--roles', list] })
    services.push(service)
    key = service.key
  }
  const alive = () => services.filter((service, at) => service && roles[at]?.includes('api')) as Service[]
  const recorder = await startRecorder()
  t.after(recorder.close)
  const [first] = alive()
  const names = Object.values(key_of).flatMap((name) => [
    `${name}.created`,
    `${name}.updated`,
    `${name}.deleted`,
  ])
  const events = [...names, 'deal.stage_changed', 'deal.won', 'deal.lost']
  const hooks = [
    await register(first!.call, { url: `${recorder.url}/a`, events }),
    await register(first!.call, { url: `${recorder.url}/b`, events: ['deal.lost', 'contact.created'] }),
  ]
  const made = async (path: string, body: object): Promise<number> =>
    (await first!.call('POST', `/api/v1/${path}`, body)).body.data.id
  const shared = {
    contact: await made('contacts', { first_name: 'Ana', last_name: 'Shared' }),
    deal: await made('deals', { name: 'Shared' }),
  }

  // The faults: a kill every second and a half, of any process, and the database twice.
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / (seconds * 1000)
  const stop = () => elapsed() >= 1
  const writers = Array.from({ length: 12 }, () =>
    createWriter(() => alive().map(({ url }) => url), key, shared),
  )
  const writing = Promise.all(writers.map((writer) => writer.run(stop)))
  writing.catch(() => {})
  let kills = 0
  async function killing() {
    while (elapsed() < 0.95) {
      await pause(500 + below(2000))
      const at = below(4)
      const victim = services[at]
      if (!victim) continue
      services[at] = null
      await victim.end('SIGKILL')
      kills++
      // A start waits for the database, should that be away.
      services[at] = await startService(data_dir, { env, key, words: ['--roles', roles[at] as string] })
    }
  }
  async function restarting() {
    for (const [when, how] of [
      [0.3, 'fast'],
      [0.65, 'immediate'],
    ] as const) {
      while (elapsed() < when) await pause(50)
      await server.halt(how)
      await pause(700)
      await server.start()
    }
  }
  await Promise.all([writing, killing(), restarting()])

  // Everything that is due is attempted, at the latest when the lease of a process that was killed is over.
  const connection = new pg.Client({ connectionString: DATABASE_URL })
  connection.on('error', () => {})
  await connection.connect()
  const rows = async (sql: string, ...values: unknown[]) => (await connection.query(sql, values)).rows
  const limit = performance.now() + lease_ms + 30_000
  for (;;) {
    const [{ n }] = await rows('SELECT count(*)::int AS n FROM webhook_queue')
    if (n === 0) break
    assert.ok(performance.now() < limit, `${n} deliveries are left`)
    await pause(200)
  }

  const acknowledged = writers.flatMap((writer) => writer.acknowledged)
  const refused = new Set(writers.flatMap((writer) => writer.refused))
  const answers = new Map<number, number>()
  for (const writer of writers)
    for (const [status, n] of writer.answers) answers.set(status, (answers.get(status) ?? 0) + n)
  t.diagnostic(
    `${kills} kills, ${acknowledged.length} acknowledged, ${recorder.received.length} requests to receivers, answers ${JSON.stringify([...answers])}`,
  )
  assert.ok(acknowledged.length > 5 * seconds && kills >= seconds / 12, 'there was something to lose')
  assert.ok((answers.get(0) ?? 0) + (answers.get(503) ?? 0) > 0, 'the faults were felt')

  // What is stored and what is told of it.
  const stored_events = await rows('SELECT id, event, record_id::int AS record_id, payload FROM events')
  const by_record = new Map<string, { event: string; payload: string }[]>()
  for (const one of stored_events) {
    const name = `${one.event.split('.')[0]} ${one.record_id}`
    by_record.set(name, [...(by_record.get(name) ?? []), one])
  }
  for (const resource of ['contacts', 'companies', 'deals'] as const) {
    const created = await rows(
      'SELECT record_id::int AS id FROM events WHERE event = $1 ORDER BY record_id',
      `${key_of[resource]}.created`,
    )
    const records = await rows(`SELECT id::int AS id FROM ${resource} ORDER BY id`)
    assert.deepEqual(created, records, 'each record was created once, and each that was is there')
    const name = resource === 'contacts' ? 'last_name' : 'name'
    const marks = new Map(
      (await rows(`SELECT id::int AS id, ${name} AS mark FROM ${resource}`)).map((row) => [row.id, row.mark]),
    )
    assert.equal(new Set(marks.values()).size, marks.size, 'no Idempotency-Key made two records')
    for (const { id, mark, events, resource: of } of acknowledged)
      if (of === resource && events[0]?.endsWith('.created'))
        assert.equal(marks.get(id), mark, `${resource} ${id}`)
  }
  for (const { resource, id, mark, events } of acknowledged) {
    const found = by_record.get(`${key_of[resource]} ${id}`) ?? []
    for (const event of events)
      assert.ok(
        found.some((one) => one.event === event && (event === 'deal.lost' || one.payload.includes(mark))),
        `${event} of ${resource} ${id} was acknowledged`,
      )
  }
  for (const { payload } of stored_events)
    for (const mark of payload.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])
      assert.ok(!refused.has(mark), `${mark} was refused`)

  // Every event reached every webhook that wants it, or the log says that it failed.
  const deliveries = await rows('SELECT id, webhook_id, event_id, event, status FROM webhook_deliveries')
  const wanted = stored_events.flatMap(({ id, event }) =>
    hooks.filter(({ events }) => events.includes(event)).map((hook) => `${hook.id} ${id}`),
  )
  assert.deepEqual(
    deliveries.map(({ webhook_id, event_id }) => `${webhook_id} ${event_id}`).sort(),
    wanted.sort(),
  )
  assert.deepEqual(
    [...new Set(deliveries.map(({ status }) => status))].sort().filter((one) => one !== 'failed'),
    ['succeeded'],
  )
  const bodies = new Map<string, string>()
  for (const { headers, body } of recorder.received) {
    const id = String(headers['x-service-delivery'])
    assert.equal(body, bodies.get(id) ?? body, 'the same bytes every time')
    bodies.set(id, body)
  }
  const known = new Map(stored_events.map(({ id, payload }) => [id, payload]))
  for (const { id, webhook_id, event_id, status } of deliveries) {
    const body = bodies.get(id)
    if (status === 'succeeded') assert.ok(body, `${id} succeeded, but nobody got it`)
    if (!body) continue
    const { webhook_id: told, ...rest } = JSON.parse(body)
    assert.deepEqual([told, rest], [webhook_id, JSON.parse(known.get(event_id))])
    bodies.delete(id)
  }
  assert.deepEqual([...bodies.keys()], [], 'nothing arrived that the log does not know')
  assert.deepEqual(recorder.overlaps, [], 'no delivery was attempted by two processes at once')
  for (const request of recorder.received) {
    const secret = hooks.find(({ url }) => url.endsWith(request.path))?.secret ?? ''
    const { service, standard } = await verifySignatures(secret, request)
    assert.ok(service && standard, `signatures of ${request.headers['x-service-delivery']}`)
  }

  // Totals are kept beside the records.
  const totals = await rows('SELECT workspace_id, name, sum(n)::int AS n FROM record_counts GROUP BY 1, 2')
  const total = (name: string) => totals.find((row) => row.name === name)?.n ?? 0
  for (const resource of ['contacts', 'companies', 'deals']) {
    const [{ n }] = await rows(`SELECT count(*)::int AS n FROM ${resource} WHERE deleted_at IS NULL`)
    assert.equal(total(resource), n, resource)
  }
  for (const { stage, n } of await rows(
    'SELECT stage, count(*)::int AS n FROM deals WHERE deleted_at IS NULL GROUP BY 1',
  ))
    assert.equal(total(`deals.stage=${stage}`), n, stage)
  for (const column of ['status', 'event', 'webhook_id'])
    for (const { value, n } of await rows(
      `SELECT ${column} AS value, count(*)::int AS n FROM webhook_deliveries GROUP BY 1`,
    ))
      assert.equal(total(`deliveries.${column}=${value}`), n, `${column} ${value}`)
})
