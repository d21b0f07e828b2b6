// runs: long
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { engine } from '../../test/engine.ts'
import { startService } from '../../test/faults/service.ts'
import { runRapport, scratchFolder } from '../../test/process.ts'
import { startReceiver } from '../../test/receiver.ts'
import { useFor } from '../../test/use.ts'
import { company, log, register, until } from '../../test/webhooks.ts'

const three = { WEB_CONCURRENCY: '3' }
// As many as a test of their ends needs.
const two = { WEB_CONCURRENCY: '2' }

/** The processes that a process has started. */
function childrenOf(pid: number): number[] {
  const all = execFileSync('ps', ['-A', '-o', 'ppid=,pid='], { encoding: 'utf8' }).trim().split('\n')
  const pairs = all.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.filter(([parent]) => parent === pid).map(([, child = 0]) => child)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A certain one: of any free one, the next processes would choose another when all are dead at once. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}

type Scope = Pick<TestContext, 'after'>

async function start(t: Scope, env: Record<string, string>) {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir, { env })
  t.after(async () => {
    const workers = childrenOf(service.pid)
    await service.end('SIGKILL')
    await until(
      async () => workers.filter(isAlive),
      (left) => left.length === 0,
    )
  })
  return { ...service, workers: () => childrenOf(service.pid) }
}

/** For the tests that end none of its processes. */
let steady: Awaited<ReturnType<typeof start>>
const ends: (() => unknown)[] = []
before(async () => {
  steady = await start({ after: (end) => void ends.push(end as () => unknown) }, three)
})
after(async () => {
  for (const end of ends.reverse()) await end()
})

/** One request on a connection of its own. */
const fresh = (url: string, key: string, path = '/api/v1/companies') =>
  fetch(url + path, {
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    signal: AbortSignal.timeout(5000),
  }).then(
    ({ status }) => status,
    () => 0,
  )

const sample = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1) ?? 0,
  )

test('several processes serve one port, and /metrics of any of them counts what all of them did', async () => {
  const service = steady
  assert.equal(service.workers().length, 3)
  const ids = new Set<string>()
  for (let n = 0; n < 30; n++) {
    const { status, headers } = await service.call('GET', '/api/v1/companies', undefined, {
      connection: 'close',
    })
    assert.equal(status, 200)
    // The start of its process, and a number.
    ids.add(String(headers.get('x-request-id')).slice(0, -5))
  }
  // Two may have started in the same millisecond.
  assert.ok(ids.size === 2 || ids.size === 3, `${[...ids]}`)
  const counted = 'rapport_http_requests_total{method="GET",route="/api/v1/companies",status="200"}'
  const one = (await service.call('GET', '/metrics')).text
  assert.equal(sample(one, counted), 30)
  assert.equal(sample(one, 'rapport_http_request_seconds_count{method="GET",route="/api/v1/companies"}'), 30)
  const build = new RegExp(
    `^rapport_build_info\\{version="[\\d.]+",node="[\\d.]+",engine="${engine}"\\} 3$`,
    'm',
  )
  assert.match(one, build)
})

test('a process that dies is replaced, and the others go on meanwhile', async (t) => {
  const service = await start(t, { ...two, PORT: await freePort() })
  const before = service.workers()
  const [victim = 0] = before
  process.kill(victim, 'SIGKILL')
  const replaced = new RegExp(`process ${victim} ended \\(SIGKILL\\): starting another one`)
  // Until then, it may be given a connection, which then hangs.
  await until(
    async () => service.complaints(),
    (text) => replaced.test(text),
  )
  for (let n = 0; n < 10; n++) assert.equal(await fresh(service.url, service.key), 200)
  await until(
    async () => service.workers(),
    (pids) => pids.length === 2 && !pids.includes(victim),
  )
  const survivors = before.filter((pid) => pid !== victim)
  // The new one answers too, when it is the only one.
  for (const pid of survivors) process.kill(pid, 'SIGKILL')
  await until(
    () => fresh(service.url, service.key),
    (status) => status === 200,
  )
})

test('all of them dead at once come back, at the same port', async (t) => {
  const service = await start(t, { ...two, PORT: await freePort() })
  for (const pid of service.workers()) process.kill(pid, 'SIGKILL')
  await until(
    () => fresh(service.url, service.key),
    (status) => status === 200,
  )
})

test('writes through any of them are delivered once each', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const service = steady
  const hook = await register(service.call, { url: receiver.url })
  const made = await Promise.all(Array.from({ length: 30 }, () => company(service.call)))
  await receiver.waitFor(30)
  await until(
    () => log(service.call),
    (all) => all.every(({ status }) => status === 'succeeded'),
  )
  const told = receiver.received.map(({ body }) => JSON.parse(body).data.id)
  assert.deepEqual(told.sort(), made.map(({ id }) => id).sort())
  await receiver.verify(hook.secret)
})

test('SIGTERM lets what is in flight finish in all of them, and ends with 0', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const service = await start(t, two)
  const held = Promise.withResolvers<void>()
  receiver.answering = () => ({ after: held.promise })
  const hook = await register(service.call, { url: receiver.url })
  // A ping answers when its attempt does: requests in flight, on connections of several processes.
  const pings = Array.from({ length: 6 }, () => ping(service.url, service.key, hook.id))
  await receiver.waitFor(6)
  const workers = service.workers()
  const ended = service.end('SIGTERM')
  await pause(200)
  held.resolve()
  assert.deepEqual(await Promise.all(pings), Array(6).fill(200))
  assert.equal(await ended, 0)
  assert.deepEqual(workers.filter(isAlive), [])
})

function ping(url: string, key: string, id: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      `${url}/api/v1/webhooks/${id}/test`,
      { method: 'POST', agent: false, headers: { authorization: `Bearer ${key}` } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
      .on('error', reject)
      .end()
  })
}

test('kill -9 of the first process leaves none of the others behind', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir, { env: two })
  const workers = childrenOf(service.pid)
  assert.equal(workers.length, 2)
  await service.end('SIGKILL')
  await until(
    async () => workers.filter(isAlive),
    (left) => left.length === 0,
  )
  // Nothing is in the way of the next start.
  const again = await startService(data_dir, { env: two, key: service.key })
  assert.equal((await again.call('GET', '/api/v1/companies')).status, 200)
  assert.equal(await again.end('SIGTERM'), 0)
})

test('a start that cannot serve ends all processes and is reported once', async (t) => {
  const service = steady
  const { port } = new URL(service.url)
  const { code, stderr } = await runRapport(['serve'], { ...two, DATA_DIR: scratchFolder(t), PORT: port })
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use`))
})

test('the folder of several processes on SQLite is theirs alone; a database on PostgreSQL is everybody’s', async (t) => {
  const service = steady
  const startAnother = () => runRapport(['serve'], { DATA_DIR: service.data_dir, PORT: '0' })
  if (engine === 'sqlite') {
    const { code, stderr } = await startAnother()
    assert.equal(code, 1)
    assert.match(stderr, /^rapport: Another process already serves .*\. .*\n$/)
    return
  }
  const other = await startService(service.data_dir, { key: service.key })
  t.after(() => other.end('SIGKILL'))
  assert.equal((await other.call('GET', '/api/v1/companies')).status, 200)
})
