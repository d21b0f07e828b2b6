// runs: both
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { calmTime } from '../calm-time.ts'
import { refused } from '../envelope.ts'
import { type Rapport, type Reply, startRapport } from '../harness.ts'
import { type Intruder, intrude } from '../intruder.ts'

let rapport: Rapport
let call: Rapport['call']
let intruder: Intruder
before(async () => {
  rapport = await startRapport({ waits: {} })
  call = rapport.call
  intruder = await intrude(rapport.data_dir)
})
after(async () => {
  await intruder.close()
  await rapport.close()
})

const path = '/api/v1/companies'
const total = async () => (await call('GET', path)).body.meta.total
const make = (headers?: Record<string, string>) => call('POST', path, { name: 'Acme' }, headers)

/** The text of an answer without its id, which may have any letters. */
const said = (told: string, { body }: Reply) => told.replaceAll(body.error.request_id, '')

test('a fault of ours is 500 and says nothing of what is inside; the next request is served as ever', async () => {
  const { id } = (await make()).body.data
  await intruder.run('ALTER TABLE companies RENAME TO gone')
  const requests = [
    ['GET', path],
    ['GET', `${path}/${id}`],
    ['POST', path, { name: 'Acme' }],
    ['PUT', `${path}/${id}`, { name: 'B' }],
    ['DELETE', `${path}/${id}`],
  ] as const
  for (const [method, at, body] of requests) {
    const reply = await call(method, at, body)
    const { message } = refused(reply, 500, 'internal_error')
    assert.equal(message, 'Something went wrong here. The request id finds it in the log.')
    assert.doesNotMatch(
      said([reply.text, ...reply.headers].join(), reply),
      /sql|table|companies|gone|node|\.ts|errcode/i,
    )
  }
  await intruder.run('ALTER TABLE gone RENAME TO companies')
  assert.equal((await call('GET', `${path}/${id}`)).body.data.name, 'Acme')
})

test('a fault in the middle of a write undoes all of it: record, total, event, idempotency key', async () => {
  const before = await total()
  await intruder.run('ALTER TABLE events RENAME TO secret_events')
  const key = { 'idempotency-key': 'a key' }
  const reply = await make(key)
  refused(reply, 500, 'internal_error')
  assert.ok(!reply.text.includes('events'))
  await intruder.run('ALTER TABLE secret_events RENAME TO events')
  assert.equal(await total(), before)
  const again = await make(key)
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, null])
  assert.equal(await total(), before + 1)
})

test('while another program writes, writes wait for it and reads do not', async () => {
  const timed = async () => {
    const began = performance.now()
    for (let reads = 0; reads < 5; reads++) assert.equal((await call('GET', path)).status, 200)
    return performance.now() - began
  }
  const before_ms = await timed()
  await intruder.keepWritersOut()
  const writes = [make(), make(), make()]
  // On a busy machine the same reads take many times as long.
  assert.ok((await timed()) < 1500 + 10 * before_ms, 'reads waited for the lock')
  await intruder.letWritersIn()
  assert.deepEqual(
    (await Promise.all(writes)).map(({ status }) => status),
    [201, 201, 201],
  )
})

test('when another program locks the database for 5 seconds, all waiting writes are 503 with Retry-After, and store nothing', async () => {
  const before = await total()
  await intruder.keepWritersOut()
  // More writes than connections: some wait for a connection first.
  const writes = () =>
    Promise.all([
      make({ 'idempotency-key': 'b' }),
      call('DELETE', `${path}/1`),
      ...Array.from({ length: 20 }, () => make()),
    ])
  const { value: replies, took_ms, calm_ms } = await calmTime(writes)
  for (const reply of replies) {
    refused(reply, 503, 'unavailable')
    assert.doesNotMatch(said(reply.text, reply), /sql|locked|timeout|busy/i)
  }
  assert.ok(took_ms > 4500 && calm_ms < 8000, `${took_ms} ms: one wait for all of them`)
  assert.equal((await call('GET', '/readyz')).status, 200)
  await intruder.letWritersIn()
  assert.equal(await total(), before)
  assert.equal((await make({ 'idempotency-key': 'b' })).headers.get('idempotency-replayed'), null)
})
