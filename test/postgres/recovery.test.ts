import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { calmTime } from '../calm-time.ts'
import { startService } from '../faults/service.ts'
import { client, startRapport } from '../harness.ts'
import { createDatabase, type Postgres, startPostgres } from '../postgres.ts'
import { runRapport, scratchFolder, serveProcess } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { bestOfTen } from '../statements.ts'
import { type Call, company, type Delivery, register, until } from '../webhooks.ts'
import { startProxy } from './proxy.ts'

const within_ms = 6000
const recovered_ms = 5000

let server: Postgres
let receiver: Receiver
before(async () => {
  ;[server, receiver] = await Promise.all([startPostgres(), startReceiver()])
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answering = () => ({})
})
after(async () => {
  await Promise.all([server.stop(), receiver.close()])
})

let databases = 0
const newDatabase = () => createDatabase(server.url, `recovery_${++databases}`)

const requests = [
  ['GET', '/api/v1/companies'],
  ['GET', '/api/v1/contacts?search=ana'],
  ['GET', '/api/v1/companies/1'],
  ['GET', '/api/v1/deliveries'],
  ['POST', '/api/v1/companies', { name: 'Meanwhile' }],
  ['PUT', '/api/v1/companies/1', { industry: 'Rockets' }],
  ['DELETE', '/api/v1/companies/2'],
  ['GET', '/readyz'],
] as const

/** Everything is refused in time, and the process says of itself that it lives. */
async function checkAway(call: Call, url: string) {
  await Promise.all(
    requests.map(async ([method, path, body]) => {
      const { value: reply, calm_ms } = await bestOfTen(
        () => calmTime(() => call(method, path, body)),
        (best) => best.calm_ms < within_ms,
      )
      const told = `${method} ${path} after ${calm_ms} ms: ${reply.text}`
      assert.equal(reply.status, 503, told)
      assert.equal(reply.body.error.code, 'unavailable', told)
      assert.ok(Number(reply.headers.get('retry-after')) >= 1, told)
      assert.ok(calm_ms < within_ms, told)
    }),
  )
  assert.equal((await client(url, null)('GET', '/healthz')).status, 200)
}

/** Everything answers again in time, however often it was refused before. */
async function checkBack(call: Call) {
  await Promise.all(
    requests.slice(0, -2).map(async ([method, path, body]) => {
      const ask = () => call(method, path, body)
      const { value: reply, calm_ms } = await calmTime(() => until(ask, ({ status }) => status !== 503))
      assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
      assert.ok(calm_ms < recovered_ms, `${method} ${path} after ${calm_ms} ms`)
    }),
  )
  assert.equal((await call('GET', '/readyz')).status, 200)
}

const named = (name: string) => () =>
  receiver.received.some(({ body }) => JSON.parse(body).data.name === name)

async function prepared(call: Call) {
  await company(call, 'First')
  await company(call, 'Second')
  await register(call, { url: receiver.url })
}

for (const how of ['fast', 'immediate'] as const)
  test(`while the database is away (${how} shutdown) all is 503 in time; once it is back all works, without a restart`, async (t) => {
    const DATABASE_URL = await newDatabase()
    const service = await startService(scratchFolder(t), {
      env: { DATABASE_URL, WEBHOOK_RETRY_DELAYS: '0.1' },
    })
    t.after(() => service.end('SIGKILL'))
    await prepared(service.call)
    // Its outcome comes while there is no database to write it down.
    const away = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: away.promise })
    await company(service.call, 'In flight')
    await receiver.waitFor(1)
    await server.halt(how)
    away.resolve()
    await checkAway(service.call, service.url)
    await server.start()
    await checkBack(service.call)
    await company(service.call, 'After')
    const { calm_ms } = await calmTime(() => receiver.waitFor(named('After')))
    assert.ok(calm_ms < recovered_ms, `${calm_ms} ms`)
    // Nothing was sent twice because its outcome could not be written down at once.
    const total = async () => (await service.call('GET', '/api/v1/deliveries?per_page=100')).body.data
    const deliveries = await until(total, (all) =>
      all.every(({ status }: Delivery) => status === 'succeeded'),
    )
    assert.deepEqual([...new Set(deliveries.map(({ attempt_count }: Delivery) => attempt_count))], [1])
    assert.equal(receiver.received.length, deliveries.length)
    assert.equal(await service.end('SIGTERM'), 0)
  })

test('a database that hangs counts as unavailable, also if it never answers an open connection again', async (t) => {
  const proxy = await startProxy(t, await newDatabase())
  const rapport = await startRapport({
    data_dir: scratchFolder(t),
    env: { DATABASE_URL: proxy.url },
    waits: {},
  })
  t.after(() => rapport.stop())
  // Open as many connections as there can be.
  await Promise.all(Array.from({ length: 20 }, (_, n) => company(rapport.call, `Company ${n}`)))
  await prepared(rapport.call)
  proxy.hang()
  const checks = Array.from({ length: 5 }, async (_, n) => {
    await pause(n * 300)
    await checkAway(rapport.call, rapport.url)
  })
  await Promise.all(checks)
  await checkAway(rapport.call, rapport.url)
  proxy.heal()
  await checkBack(rapport.call)
  await company(rapport.call, 'After')
  // A claim that hung when the database healed ends within 6 s. The next one follows after a pause of at most 1 s.
  const { calm_ms } = await calmTime(() => receiver.waitFor(named('After')))
  assert.ok(calm_ms < within_ms + 2000, `${calm_ms} ms`)
})

test('a service whose database hangs still stops in time', async (t) => {
  const proxy = await startProxy(t, await newDatabase())
  const env = { DATABASE_URL: proxy.url }
  const service = await startService(scratchFolder(t), { env })
  t.after(() => service.end('SIGKILL'))
  await prepared(service.call)
  proxy.hang()
  service.call('GET', '/api/v1/companies').catch(() => {})
  await pause(50)
  const { value, calm_ms } = await calmTime(() => service.end('SIGTERM'))
  assert.equal(value, 0)
  assert.ok(calm_ms < 20_000, `${calm_ms} ms`)
})

test('a start waits for its database, and gives up with one clear line', async (t) => {
  const url = await newDatabase()
  await server.halt('fast')
  const env = {
    DATABASE_URL: url,
    SECRET_KEY: 'a key for tests, of 32 characters',
    PORT: '0',
    LOG_LEVEL: 'error',
  }
  const waiting = serveProcess(t, env)
  // No process listens on port 1.
  const nowhere = url.replace(/:\d+\//, ':1/')
  const given_up = calmTime(() => runRapport(['serve'], { ...env, DATABASE_URL: nowhere }))
  await pause(3000)
  await server.start()
  const service = await waiting
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
  assert.equal(await service.stop(), 0)
  const { value, took_ms, calm_ms } = await given_up
  const { code, stdout, stderr } = value
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^rapport: The database .*cannot be reached \(ECONNREFUSED\)\. Check that its server runs\.\n$/,
  )
  assert.ok(took_ms > 14_000 && calm_ms < 30_000, `${took_ms} ms`)
})
