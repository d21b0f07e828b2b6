// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace, readStored } from '../database.ts'
import { engine } from '../engine.ts'
import { problems, refused } from '../envelope.ts'
import { callOf, client, type Reply, startRapport, turnableClock, useRapport } from '../harness.ts'
import { intrude } from '../intruder.ts'
import { scratchFolder } from '../process.ts'
import { unlessBusy } from '../webhooks.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const path = '/api/v1/companies'
const hour = 3_600_000
let keys = 0
const newKey = () => ({ 'idempotency-key': `key ${keys++}` })
const make = (headers: Record<string, string>, body: unknown = { name: 'Acme' }, caller = call) =>
  caller('POST', path, body, headers)
const total = async () => (await call('GET', path)).body.meta.total
const replayed = (reply: Reply) => reply.headers.get('idempotency-replayed')

test('the same body again gets the same answer: status, bytes, Location, ETag, and a header that says so', async () => {
  const key = newKey()
  const before = await total()
  const first = await make(key)
  assert.equal(first.status, 201)
  assert.equal(replayed(first), null)
  clock.advance(1000)
  const second = await make(key)
  assert.equal(replayed(second), 'true')
  assert.equal(second.status, 201)
  assert.equal(second.text, first.text)
  for (const name of ['location', 'etag', 'content-type'])
    assert.equal(second.headers.get(name), first.headers.get(name))
  assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'))
  assert.equal(await total(), before + 1)
  // Also when the record has changed or gone meanwhile: it is the answer of then.
  await call('DELETE', String(first.headers.get('location')))
  assert.equal((await make(key)).text, first.text)
})

test('a request without the key and one with it get the same bytes', async () => {
  const plain = await make({})
  const kept = await make(newKey())
  const { id } = plain.body.data
  assert.equal(kept.text, plain.text.replace(`"id":${id}`, `"id":${id + 1}`))
  assert.equal(kept.headers.get('content-type'), plain.headers.get('content-type'))
})

test('the key does not depend on how the path is written: escaped letters and ids are the same route', async () => {
  const { id } = (await make({})).body.data
  await call('DELETE', `${path}/${id}`)
  for (const [written, again] of [
    [path, '/api/v1/%63ompan%69es'],
    [`${path}/${id}/restore`, `${path}/${escaped(String(id))}/restore`],
  ] as const) {
    const key = newKey()
    const body = written === path ? { name: 'Acme' } : {}
    const before = await total()
    const first = await call('POST', written, body, key)
    const second = await call('POST', again, body, key)
    assert.equal(replayed(second), 'true', `${written} and ${again}: ${second.text}`)
    assert.equal(second.text, first.text)
    assert.equal(await total(), before + 1)
  }
  // Another record is another path.
  const [one, other] = [(await make({})).body.data, (await make({})).body.data]
  const key = newKey()
  assert.equal(replayed(await call('POST', `${path}/${one.id}/restore`, {}, key)), null)
  assert.equal(replayed(await call('POST', `${path}/${other.id}/restore`, {}, key)), null)
})

const escaped = (text: string) => [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')

test('another body with the same key is 409, and makes nothing', async () => {
  const key = newKey()
  await make(key)
  const before = await total()
  for (const body of [{ name: 'Other' }, '{"name": "Acme"}', { name: 5 }, ''])
    refused(await make(key, body), 409, 'conflict')
  assert.equal(await total(), before)
})

test('a key means nothing for another path, another API key, or another workspace', async () => {
  const key = newKey()
  const before = await total()
  const { id } = (await make(key)).body.data
  const restored = await call('POST', `${path}/${id}/restore`, {}, key)
  assert.deepEqual([restored.status, replayed(restored)], [200, null])
  const elsewhere = await make(key, { name: 'Other' }, await newWorkspace(rapport))
  assert.deepEqual([elsewhere.status, replayed(elsewhere)], [201, null])
  assert.equal(await total(), before + 1)
})

test('50 concurrent requests with one key create one record with one event', async () => {
  const key = newKey()
  const before = await total()
  const replies = await Promise.all(Array.from({ length: 50 }, () => unlessBusy(() => make(key))))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
  assert.equal(replies.filter((reply) => replayed(reply) === 'true').length, 49)
  assert.equal(await total(), before + 1)
  const stored = await readStored(rapport.data_dir)
  assert.equal((await stored.events('company', replies[0]?.body.data.id)).length, 1)
  await stored.close()
})

test('50 concurrent requests with one key and different bodies create one record; the others are refused', async () => {
  const key = newKey()
  const before = await total()
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) => unlessBusy(() => make(key, { name: `Acme ${index}` }))),
  )
  const count = (status: number) => replies.filter((reply) => reply.status === status).length
  assert.deepEqual([count(201), count(409)], [1, 49])
  assert.equal(await total(), before + 1)
})

test('a failed request is not kept: the key can be used again, with the same body or another', async () => {
  const key = newKey()
  problems(await make(key, { name: 5 }))
  problems(await make(key, { name: 5 }))
  refused(await make(key, '{'), 400, 'bad_request')
  const made = await make(key)
  assert.deepEqual([made.status, replayed(made)], [201, null])
  const missing = newKey()
  refused(await call('POST', `${path}/999999/restore`, undefined, missing), 404, 'not_found')
  refused(await call('POST', `${path}/999999/restore`, {}, missing), 404, 'not_found')
})

test('a merge whose answer cannot be stored is not made, so that it can be repeated', async (t) => {
  const contact = async () =>
    (await call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })).body.data.id
  const [survivor, other] = [await contact(), await contact()]
  const key = newKey()
  const merge = () => call('POST', `/api/v1/contacts/${survivor}/merge`, { from_ids: [other] }, key)
  const intruder = await intrude(rapport.data_dir)
  t.after(() => intruder.close())
  const [refuse, accept] = {
    sqlite: [
      "CREATE TRIGGER no_answer BEFORE UPDATE ON idempotency_keys BEGIN SELECT raise(ABORT, ''); END",
      'DROP TRIGGER no_answer',
    ],
    postgres: [
      'ALTER TABLE idempotency_keys ADD CONSTRAINT no_answer CHECK (answer IS NULL) NOT VALID',
      'ALTER TABLE idempotency_keys DROP CONSTRAINT no_answer',
    ],
  }[engine] as [string, string]
  await intruder.run(refuse)
  refused(await merge(), 500, 'internal_error')
  await intruder.run(accept)
  const merged = await merge()
  assert.deepEqual([merged.status, replayed(merged)], [200, null], merged.text)
  assert.equal(replayed(await merge()), 'true')
})

test('an answer is kept for 24 hours', async () => {
  const key = newKey()
  const first = await make(key)
  clock.advance(24 * hour - 1)
  assert.equal((await make(key)).text, first.text)
  clock.advance(1)
  const fresh = await make(key, { name: 'Other' })
  assert.deepEqual([fresh.status, replayed(fresh)], [201, null])
  assert.ok(fresh.body.data.id > first.body.data.id)
})

test('a key has 1 to 255 characters', async () => {
  const before = await total()
  for (const wrong of ['', '   ', 'a'.repeat(256)])
    refused(await make({ 'idempotency-key': wrong }), 400, 'bad_request')
  assert.equal(await total(), before)
  const longest = { 'idempotency-key': 'a'.repeat(255) }
  const first = await make(longest)
  assert.equal((await make(longest)).text, first.text)
  assert.equal((await make({ 'idempotency-key': 'é"\\, ;' })).status, 201)
})

test('on reads, changes and deletions it is passed over, whatever it is', async () => {
  const { id } = (await make({})).body.data
  for (const key of [newKey(), { 'idempotency-key': '' }, { 'idempotency-key': 'a'.repeat(300) }]) {
    for (const name of ['A', 'B']) {
      const reply = await call('PUT', `${path}/${id}`, { name }, key)
      assert.deepEqual([reply.status, reply.body.data.name, replayed(reply)], [200, name, null])
      assert.equal((await call('PATCH', `${path}/${id}`, { name }, key)).status, 200)
      assert.equal((await call('GET', `${path}/${id}`, undefined, key)).status, 200)
    }
    assert.equal((await call('DELETE', `${path}/${id}`, undefined, key)).status, 200)
    assert.equal((await call('POST', `${path}/${id}/restore`, undefined, newKey())).status, 200)
  }
})

test('kept answers survive a restart, and are not readable in the database', async (t) => {
  const data_dir = scratchFolder(t)
  const key = newKey()
  const first = await startRapport({ data_dir, clock })
  const made = await make(key, { name: 'Confidential' }, first.call)
  const stored = await readStored(data_dir)
  assert.ok(
    !JSON.stringify(await stored.rows('SELECT answer FROM idempotency_keys')).includes('Confidential'),
  )
  await stored.close()
  await first.close()
  const second = await startRapport({ data_dir, clock })
  const again = await make(key, { name: 'Confidential' }, client(second.url, first.key))
  assert.deepEqual([again.status, again.text, replayed(again)], [201, made.text, 'true'])
  await second.close()
})
