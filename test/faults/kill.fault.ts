import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { company, delivery, log, onlyDelivery, register, total, until } from '../webhooks.ts'
import { report } from './report.ts'
import { startService } from './service.ts'
import { startStoppedReceiver } from './stopped-receiver.ts'

const env = { WEBHOOK_TIMEOUT_MS: '1000', WEBHOOK_RETRY_DELAYS: '0.2,0.5' }
// On PostgreSQL, a lease must expire: no process knows that its owner has ended.
const patience_ms = 60_000

const inFlight = async (url: string) =>
  Number(/^rapport_deliveries_in_flight (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1])

test('killed after a claim and before the POST: the delivery is sent once, when the lease ends, and no try is counted', async (t) => {
  const data_dir = scratchFolder(t)
  const receiver = await startStoppedReceiver(t)
  const slow = { ...env, WEBHOOK_TIMEOUT_MS: '8000' }
  let service = await startService(data_dir, { env: slow })
  t.after(() => service.end('SIGKILL'))
  const hook = await register(service.call, { url: receiver.url })
  await company(service.call)
  await until(() => inFlight(service.url), 1)
  await service.end('SIGKILL')
  const killed = performance.now()
  assert.equal(receiver.received.length, 0)
  receiver.resume()
  service = await startService(data_dir, { env: slow, key: service.key })
  const { id } = await onlyDelivery(service.call, hook.id)
  const { attempt_count, attempts } = await until(
    () => delivery(service.call, id),
    { status: 'succeeded' },
    patience_ms,
  )
  const waited = ((performance.now() - killed) / 1000).toFixed(1)
  assert.equal(attempt_count, 1)
  assert.deepEqual(
    attempts.map(({ error }) => error?.code),
    ['interrupted', undefined],
  )
  assert.deepEqual(
    receiver.received.map((one) => one.delivery),
    [id],
  )
  report({ fault: 1, figures: `sent once, ${waited} s after the kill`, events: 1, lost: 0, phantom: 0 })
})

/**
 * A receiver that kills the sender at its answer, for the first attempt of a delivery. Every second time, it stops the
 * process before the answer, so that the outcome cannot be stored.
 */
async function startKiller(t: TestContext, victim: () => number) {
  const received = new Map<string, string[]>()
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '')
    const id = String(request.headers['x-service-delivery'])
    const known = received.get(id) ?? []
    received.set(id, [...known, body])
    if (!known.length && received.size % 2) process.kill(victim(), 'SIGSTOP')
    response.end(() => {
      if (!known.length) process.kill(victim(), 'SIGKILL')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

test('killed after the answer of the receiver and before the commit: sent again with the same id and bytes', async (t) => {
  const data_dir = scratchFolder(t)
  let service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  const receiver = await startKiller(t, () => service.pid)
  await register(service.call, { url: receiver.url })
  const rounds = 6
  for (let n = 0; n < rounds; n++) {
    const before = receiver.received.size
    // The kill may be quicker than the answer to this request.
    await company(service.call).catch(() => {})
    await until(
      async () => receiver.received.size,
      (size) => size > before,
    )
    await service.exited
    service = await startService(data_dir, { env, key: service.key })
  }
  await until(() => total(service.call, 'status=pending'), 0, patience_ms)
  const deliveries = await log(service.call)
  assert.equal(deliveries.length, rounds)
  for (const { status } of deliveries) assert.equal(status, 'succeeded')
  const all = [...receiver.received.values()]
  const lost = deliveries.filter(({ id }) => !receiver.received.has(id)).length
  const twice = all.filter((bodies) => bodies.length === 2).length
  for (const bodies of all) assert.deepEqual([new Set(bodies).size, bodies.length <= 2], [1, true])
  assert.ok(twice >= rounds / 2, `${twice} came twice`)
  report({
    fault: 2,
    figures: `${rounds} kills, ${twice} deliveries came twice, ${lost} never`,
    events: rounds,
    lost,
  })
  assert.equal(lost, 0)
})

test('a stop under load: acknowledged events are delivered once, and the process exits with 0 in time', async (t) => {
  const data_dir = scratchFolder(t)
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  receiver.answering = () => ({ delay_ms: 20 })
  let service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  await register(service.call, { url: receiver.url })
  const acknowledged = new Set<number>()
  let over = false
  const writers = Array.from({ length: 8 }, async () => {
    while (!over) {
      const reply = await service.call('POST', '/api/v1/companies', { name: 'Acme' }).catch(() => null)
      if (reply?.status === 201) acknowledged.add(reply.body.data.id)
      else {
        assert.ok(
          !reply || (reply.status === 503 && Number(reply.headers.get('retry-after')) >= 1),
          reply?.text,
        )
        await pause(5)
      }
    }
  })
  await until(
    async () => acknowledged.size,
    (size) => size > 300,
  )
  const start = performance.now()
  assert.equal(await service.end('SIGTERM'), 0)
  const took_ms = Math.round(performance.now() - start)
  over = true
  await Promise.all(writers)
  assert.ok(took_ms < 16_000, `${took_ms} ms`)
  service = await startService(data_dir, { env, key: service.key })
  await until(() => total(service.call, 'status=pending'), 0, patience_ms)
  const arrived = receiver.received.map(({ body }) => JSON.parse(body).data.id as number)
  const stored = (await service.call('GET', '/api/v1/companies?per_page=1')).body.meta.total
  const lost = [...acknowledged].filter((id) => !arrived.includes(id)).length
  const twice = arrived.length - new Set(arrived).size
  report({
    fault: 4,
    figures: `${acknowledged.size} acknowledged, ${arrived.length} arrived, stopped in ${took_ms} ms`,
    events: stored,
    lost,
  })
  assert.deepEqual([lost, twice, new Set(arrived).size], [0, 0, stored])
})
