import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { calmTime } from '../../../test/calm-time.ts'
import { newWorkspace } from '../../../test/database.ts'
import { removeScratch } from '../../../test/engine.ts'
import { follow } from '../../../test/follower.ts'
import { type Rapport, startRapport } from '../../../test/harness.ts'
import { beside, makeKey } from '../../../test/keys.ts'
import { bestOfTen } from '../../../test/statements.ts'
import { company, until } from '../../../test/webhooks.ts'
import { revokeKey } from '../../access/keys/keys.ts'
import { systemClock } from '../../clock.ts'
import { command_line } from '../context.ts'

const path = '/api/v1/events'
let service: Rapport
before(async () => {
  service = await startRapport()
})
after(() => service.close())

const names = (events: { data?: string }[]) =>
  events.map(({ data = '{}' }) => (JSON.parse(data) as { data: { name: string } }).data.name)

test('a stream brings each event of its workspace within moments, with the bytes and cursors of the feed', async (t) => {
  const another = await newWorkspace(service)
  await company(service.call, 'Before')
  const stream = await follow(service.url, service.key)
  t.after(stream.close)
  assert.equal(stream.status, 200)
  const { headers, frames } = stream
  assert.equal(headers['content-type'], 'text/event-stream')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-accel-buffering'], 'no')
  assert.match(String(headers['x-request-id']), /^req_/)
  assert.deepEqual([frames[0]?.retry, frames[0]?.data], ['2000', undefined])
  const start = frames[0]?.id
  await company(service.call, 'One')
  await stream.waitFor(1)
  await company(another, 'Foreign')
  await company(service.call, 'Two')
  const events = await stream.waitFor(2)
  assert.deepEqual(names(events), ['One', 'Two'])
  assert.deepEqual(
    events.map(({ event }) => event),
    ['company.created', 'company.created'],
  )
  const { text, body } = await service.call('GET', `${path}?cursor=${start}`)
  assert.ok(text.includes(`[${events.map(({ data }) => data).join()}]`))
  assert.equal(events[1]?.id, body.meta.next_cursor)
})

test('commits wake a stream: it does not wait for the clock', async (t) => {
  const stream = await follow(service.url, service.key)
  t.after(stream.close)
  const tenEvents = async () => {
    for (let n = 1; n <= 10; n++) {
      const came = stream.events().length
      await company(service.call, `No ${n}`)
      await stream.waitFor(came + 1)
    }
  }
  // By the clock it would be a second for each.
  const { calm_ms } = await bestOfTen(
    () => calmTime(tenEvents),
    (one) => one.calm_ms < 5000,
  )
  assert.ok(calm_ms < 5000, `${calm_ms} ms`)
})

test('a filter brings the events of its names alone', async (t) => {
  const query = '?event=company.deleted,deal.created'
  const stream = await follow(service.url, service.key, { query })
  t.after(stream.close)
  const { id } = await company(service.call, 'Short-lived')
  await company(service.call, 'Long-lived')
  await service.call('DELETE', `/api/v1/companies/${id}`)
  const events = await stream.waitFor(1)
  assert.deepEqual(names(events), ['Short-lived'])
})

test('who comes back with the last id misses nothing and gets nothing twice, by header or by cursor', async (t) => {
  const first = await follow(service.url, service.key)
  await company(service.call, 'A')
  await first.waitFor(1)
  first.close()
  for (const name of ['B', 'C']) await company(service.call, name)
  const headers = { 'last-event-id': first.last_id() }
  const second = await follow(service.url, service.key, { headers, query: '?cursor=0' })
  const third = await follow(service.url, service.key, { query: `?cursor=${first.last_id()}` })
  t.after(second.close)
  t.after(third.close)
  await company(service.call, 'D')
  for (const stream of [second, third]) assert.deepEqual(names(await stream.waitFor(3)), ['B', 'C', 'D'])
})

test('who is cut off before the first event goes on from where the stream was opened', async (t) => {
  const first = await follow(service.url, service.key)
  first.close()
  await company(service.call, 'Meanwhile')
  const second = await follow(service.url, service.key, { headers: { 'last-event-id': first.last_id() } })
  t.after(second.close)
  assert.deepEqual(names(await second.waitFor(1)), ['Meanwhile'])
})

test('a long past arrives whole and in order, while new events are written', async (t) => {
  const writing = (async () => {
    for (let n = 0; n < 60; n++)
      await Promise.all([1, 2, 3, 4].map((m) => company(service.call, `Past ${n}.${m}`)))
  })()
  const stream = await follow(service.url, service.key, { query: '?cursor=0' })
  t.after(stream.close)
  await writing
  const last = (await service.call('GET', `${path}?sort=-timestamp&per_page=1`)).body.data[0].id
  await until(async () => stream.events().at(-1)?.data?.includes(last), true)
  const ids = stream.events().map(({ id }) => Number(id))
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  )
  assert.equal(names(stream.events()).filter((name) => name?.startsWith('Past')).length, 240)
})

test('a request that cannot be a stream is refused in the envelope', async () => {
  const bad = await follow(service.url, service.key, { headers: { 'last-event-id': 'nonsense' } })
  const { error } = await bad.refusal()
  assert.deepEqual([bad.status, error.fields[0].code], [422, 'invalid_cursor'])
  const keyless = await follow(service.url, 'crm_none')
  assert.deepEqual([keyless.status, (await keyless.refusal()).error.code], [401, 'unauthorized'])
  assert.equal((await service.call('GET', `${path}/stream?event=x`)).status, 422)
  assert.equal((await service.call('GET', `${path}/stream?evnt=x`)).status, 400)
  assert.equal((await service.call('POST', `${path}/stream`)).status, 405)
  const head = await service.call('HEAD', `${path}/stream`)
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream'])
  assert.equal((await service.call('OPTIONS', `${path}/stream`)).headers.get('allow'), 'GET, HEAD')
})

test('a stream ends within moments after its key is revoked or has expired', async () => {
  const left_ms = 5000
  const revoked = await makeKey(service)
  const soon = new Date(systemClock.now() + left_ms).toISOString()
  const expiring = await makeKey(service, { expires_at: soon })
  const streams = await Promise.all([revoked, expiring].map(({ token }) => follow(service.url, token)))
  const other = await follow(service.url, service.key)
  const { calm_ms } = await calmTime(async () => {
    await beside(service.data_dir, (db) => revokeKey(db, systemClock, command_line, revoked.id))
    await streams[0]?.ended
    await streams[1]?.ended
  })
  assert.ok(calm_ms < left_ms + 2300, `${calm_ms} ms`)
  await company(service.call, 'Still there')
  await other.waitFor(1)
  other.close()
})

test('a key has at most 100 streams in a process; the next one is refused until later', async () => {
  const { token } = await makeKey(service)
  const streams = await Promise.all(Array.from({ length: 100 }, () => follow(service.url, token)))
  const refused = await follow(service.url, token)
  assert.deepEqual([refused.status, (await refused.refusal()).error.code], [429, 'rate_limited'])
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  const other = await follow(service.url, service.key)
  assert.equal(other.status, 200)
  await company(service.call, 'For all')
  await Promise.all([...streams, other].map((stream) => stream.waitFor(1)))
  for (const stream of [...streams, other]) stream.close()
  await until(
    () => follow(service.url, token),
    (stream) => {
      stream.close()
      return stream.status === 200
    },
  )
})

test('a stop ends the streams at once, and waits for no client that does not read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  const one = await startRapport({ data_dir: folder })
  const stream = await follow(one.url, one.key)
  const stuck = await follow(one.url, one.key)
  stuck.response.pause()
  // More than the socket's buffers take.
  const large = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`field ${n}`, 'x'.repeat(4000)]))
  for (let n = 0; n < 54; n++)
    await one.call('POST', '/api/v1/companies', { name: 'Large', custom_fields: large })
  await stream.waitFor(54)
  const last = stream.last_id()
  const { calm_ms } = await calmTime(() => one.close())
  assert.ok(calm_ms < 5000, 'a third of the time that requests in flight may take')
  await stream.ended
  const again = await startRapport({ data_dir: folder })
  const { token } = await makeKey(again)
  const service = { ...again, call: (await makeKey(again)).call }
  await company(service.call, 'After the stop')
  const next = await follow(again.url, token, { headers: { 'last-event-id': last } })
  assert.deepEqual(names(await next.waitFor(1)), ['After the stop'])
  next.close()
  await again.close()
  await removeScratch(folder)
})
