// runs: once
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startService } from '../../test/faults/service.ts'
import { freePort } from '../../test/ports.ts'
import { scratchFolder } from '../../test/process.ts'
import { startReceiver } from '../../test/receiver.ts'
import { useFor } from '../../test/use.ts'
import { register, until } from '../../test/webhooks.ts'
import { childrenOf, isAlive, startWorkers } from '../../test/workers.ts'

const two = { WEB_CONCURRENCY: '2' }

/** Two processes on a certain port: of any free one, the next ones would choose another when all are dead at once. */
const twoOnPort = async () => ({ ...two, PORT: String(await freePort()) })

/** One request on a connection of its own. */
const fresh = (url: string, key: string, path = '/api/v1/companies') =>
  fetch(url + path, {
    headers: { authorization: `Bearer ${key}`, connection: 'close' },
    signal: AbortSignal.timeout(20_000),
  }).then(
    ({ status }) => status,
    () => 0,
  )

test('a process that dies is replaced, and the others go on meanwhile', async (t) => {
  const service = await startWorkers(t, await twoOnPort())
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
  await until(() => fresh(service.url, service.key), 200)
})

test('all of them dead at once come back, at the same port', async (t) => {
  const service = await startWorkers(t, await twoOnPort())
  for (const pid of service.workers()) process.kill(pid, 'SIGKILL')
  await until(() => fresh(service.url, service.key), 200)
})

test('SIGTERM lets what is in flight finish in all of them, and ends with 0', async (t) => {
  const receiver = await useFor(t, startReceiver())
  const service = await startWorkers(t, two)
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
