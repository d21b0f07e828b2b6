import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { calmTime } from '../calm-time.ts'
import { readStored } from '../database.ts'
import { client } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { act, company, delivery, log, register, total, until } from '../webhooks.ts'
import { startService } from './service.ts'

// A stop gives up what it waits for after 15 s.
const stop_limit_ms = 10_000

let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answering = () => ({})
})
after(async () => {
  await receiver.close()
})

test('during a stop, readiness and every request are 503, and requests in flight end', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir)
  t.after(() => service.end('SIGKILL'))
  const anyone = client(service.url, null)
  assert.equal((await anyone('GET', '/readyz')).status, 200)
  const checked = Promise.withResolvers<void>()
  receiver.answering = () => ({ after: checked.promise })
  const hook = await register(service.call, { url: receiver.url })
  await company(service.call)
  const ping = act(service.call, hook.id, 'test')
  await receiver.waitFor(2)
  // A connection that never asks for anything is not waited for.
  const silent = connect(Number(new URL(service.url).port), '127.0.0.1')
  t.after(() => silent.destroy())
  await once(silent, 'connect')
  const ended = calmTime(() => service.end('SIGTERM'))
  const refused = await until(
    () => anyone('GET', '/readyz'),
    ({ status }) => status !== 200,
  )
  assert.deepEqual(
    [refused.status, refused.body.success, refused.body.error.code],
    [503, false, 'unavailable'],
  )
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  for (const [method, path, body] of [
    ['GET', '/api/v1/companies'],
    ['POST', '/api/v1/companies', { name: 'Late' }],
    ['GET', '/docs'],
  ] as const) {
    const late = await service.call(method, path, body)
    assert.deepEqual([late.status, late.body.error.code], [503, 'unavailable'], path)
  }
  assert.equal((await anyone('GET', '/healthz')).status, 200)
  checked.resolve()
  // The request that waited for its ping got it.
  assert.equal((await ping).status, 'succeeded')
  const { value: code, calm_ms } = await ended
  assert.equal(code, 0)
  assert.ok(calm_ms < stop_limit_ms, 'it waited for the silent connection')
  assert.equal(service.complaints(), '')

  const again = await startService(data_dir, { key: service.key })
  t.after(() => again.end('SIGKILL'))
  for (const { id, status } of await log(again.call)) {
    assert.equal(status, 'succeeded')
    const { attempts } = await delivery(again.call, id)
    assert.deepEqual(
      attempts.map(({ number, error }) => [number, error]),
      [[1, null]],
    )
  }
  assert.equal(receiver.received.length, 2)
  assert.equal(await again.end('SIGINT'), 0)
})

test('SIGTERM under load: exit 0, nothing lost, nothing sent twice', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir)
  t.after(() => service.end('SIGKILL'))
  receiver.answering = () => ({ delay_ms: 30 })
  await register(service.call, { url: receiver.url })
  const names: string[] = []
  const answers = new Set<number>()
  async function writer(number: number) {
    for (let n = 0; ; n++) {
      const name = `Writer ${number}, ${n}`
      const reply = await service.call('POST', '/api/v1/companies', { name }).catch(() => null)
      if (!reply) return
      answers.add(reply.status)
      if (reply.status !== 201) return
      names.push(name)
    }
  }
  const writing = Promise.all(Array.from({ length: 16 }, (_, number) => writer(number)))
  await receiver.waitFor(60)
  const { value: code, calm_ms } = await calmTime(() => service.end('SIGTERM'))
  assert.equal(code, 0)
  assert.ok(calm_ms < stop_limit_ms, `${calm_ms} ms`)
  await writing
  for (const status of answers) assert.ok([201, 503].includes(status), String(status))
  assert.equal(service.complaints(), '')

  const again = await startService(data_dir, { key: service.key })
  t.after(() => again.end('SIGKILL'))
  const companies = async () => (await again.call('GET', '/api/v1/companies?per_page=1')).body.meta.total
  assert.equal(await companies(), names.length)
  await until(
    () => total(again.call, 'status=succeeded'),
    (n) => n === names.length,
  )
  const received = receiver.received.map(({ body }) => JSON.parse(body).data.name)
  assert.deepEqual(received.sort(), names.sort(), 'each one once')
  const interrupted = await Promise.all((await log(again.call)).map(({ id }) => delivery(again.call, id)))
  for (const { attempts } of interrupted) assert.deepEqual([attempts.length, attempts[0]?.error], [1, null])
})

test('what waits for a retry or a resume is neither sent nor lost by a stop', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir, { env: { WEBHOOK_RETRY_DELAYS: '5' } })
  t.after(() => service.end('SIGKILL'))
  receiver.answering = (_request, number) => ({ status: number === 1 ? 500 : 200 })
  const hook = await register(service.call, { url: receiver.url })
  await company(service.call)
  const failed = await until(
    () => log(service.call).then(([one]) => one),
    (one) => one?.attempt_count === 1,
  )
  assert.ok(failed?.next_attempt_at)
  const paused = await register(service.call, { url: `${receiver.url}/paused` })
  await act(service.call, paused.id, 'pause')
  await company(service.call)
  await receiver.waitFor(2)
  assert.equal(await service.end('SIGTERM'), 0)
  // The retry is due while nothing runs.
  await pause(Date.parse(failed.next_attempt_at) - Date.now() + 50)
  assert.equal(receiver.received.length, 2)
  const again = await startService(data_dir, { key: service.key })
  t.after(() => again.end('SIGKILL'))
  await receiver.waitFor(3)
  const { attempts } = await until(() => delivery(again.call, failed.id), { status: 'succeeded' })
  assert.deepEqual(
    attempts.map(({ error }) => error?.code),
    ['http_error', undefined],
  )
  await act(again.call, paused.id, 'resume')
  await receiver.waitFor((all) => all.some(({ path }) => path === '/hook/paused'))
  assert.equal((await log(again.call, `webhook_id=${hook.id}`)).length, 2)
  assert.equal(await again.end('SIGTERM'), 0)
})

test('a stop ends an upload that does not end, keeps nothing of its file, and logs no error', async (t) => {
  const data_dir = scratchFolder(t)
  const service = await startService(data_dir)
  t.after(() => service.end('SIGKILL'))
  const { rows, close } = await readStored(data_dir)
  t.after(close)
  const upload = request(`${service.url}/api/v1/imports?resource=companies`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'text/csv' },
  })
  upload.on('error', () => {})
  upload.write(`name\n${'Acme\n'.repeat(500_000)}`)
  await until(
    () => rows('SELECT 1 FROM import_chunks'),
    ({ length }) => length > 0,
  )
  const sending = setInterval(() => upload.write('Acme\n'), 200)
  t.after(() => clearInterval(sending))
  assert.equal(await service.end('SIGTERM'), 0)
  assert.equal(service.complaints(), '')
  for (const table of ['imports', 'import_chunks'])
    assert.deepEqual(await rows(`SELECT count(*) AS n FROM ${table}`), [{ n: 0 }], table)
})
