import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { databaseFile } from '../src/db/sqlite/open.ts'
import { readStored } from './database.ts'
import { refused } from './envelope.ts'
import { type Rapport, startRapport } from './harness.ts'

let rapport: Rapport
let call: Rapport['call']
/** Another process's connection to the same database. */
let intruder: DatabaseSync
before(async () => {
  rapport = await startRapport()
  call = rapport.call
  intruder = new DatabaseSync(databaseFile(rapport.data_dir))
})
after(async () => {
  intruder.close()
  await rapport.close()
})

const path = '/api/v1/companies'
const total = async () => (await call('GET', path)).body.meta.total
const make = (headers?: Record<string, string>) => call('POST', path, { name: 'Acme' }, headers)

test('a fault of ours is 500 and says nothing of what is inside; the next request is served as ever', async () => {
  const { id } = (await make()).body.data
  intruder.exec('ALTER TABLE companies RENAME TO gone')
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
    assert.doesNotMatch([reply.text, ...reply.headers].join(), /sql|table|companies|gone|node|\.ts|errcode/i)
  }
  intruder.exec('ALTER TABLE gone RENAME TO companies')
  assert.equal((await call('GET', `${path}/${id}`)).body.data.name, 'Acme')
})

test('a fault in the middle of a write undoes all of it: record, total, event, idempotency key', async () => {
  const before = await total()
  intruder.exec(
    "CREATE TRIGGER no_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'secret text'); END",
  )
  const key = { 'idempotency-key': 'a key' }
  const reply = await make(key)
  refused(reply, 500, 'internal_error')
  assert.ok(!reply.text.includes('secret'))
  intruder.exec('DROP TRIGGER no_events')
  assert.equal(await total(), before)
  const again = await make(key)
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [201, null])
  assert.equal(await total(), before + 1)
})

test('while another process writes for a moment, writes wait for it and reads do not', async () => {
  intruder.exec('BEGIN IMMEDIATE')
  const writes = [make(), make(), make()]
  const began = performance.now()
  for (let reads = 0; reads < 20; reads++) assert.equal((await call('GET', path)).status, 200)
  assert.ok(performance.now() - began < 1500, 'reads waited for the lock')
  intruder.exec('COMMIT')
  assert.deepEqual(
    (await Promise.all(writes)).map(({ status }) => status),
    [201, 201, 201],
  )
})

test('when another process holds the database for 5 seconds, all waiting writes are 503 with Retry-After, and nothing is half done', async () => {
  const before = await total()
  intruder.exec('BEGIN IMMEDIATE')
  const began = performance.now()
  const replies = await Promise.all([
    make(),
    make({ 'idempotency-key': 'b' }),
    call('DELETE', `${path}/1`),
    make(),
  ])
  const took = performance.now() - began
  for (const reply of replies) {
    refused(reply, 503, 'unavailable')
    assert.doesNotMatch(reply.text, /sqlite|locked|busy/i)
  }
  assert.ok(took > 4500 && took < 8000, `${took} ms: one wait for all of them`)
  assert.equal((await call('GET', '/readyz')).status, 200)
  intruder.exec('ROLLBACK')
  assert.equal(await total(), before)
  assert.equal((await make({ 'idempotency-key': 'b' })).headers.get('idempotency-replayed'), null)
})

test('when the database is full, writes are 503 and nothing is half done; those that share the commit are told too', async () => {
  const before = await total()
  const contacts = async () => (await call('GET', '/api/v1/contacts')).body.meta.total
  const { seq } = intruder.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'companies'").get() as {
    seq: number
  }
  // SQLite answers SQLITE_FULL also when a table has used up its last id.
  const setLastId = (id: bigint) =>
    intruder.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'companies'").run(id)
  setLastId(9223372036854775807n)
  const contact = () => call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const had = await contacts()
  const replies = await Promise.all([contact(), make(), contact(), make(), contact()])
  for (const reply of [replies[1], replies[3]]) refused(reply as never, 503, 'unavailable')
  const made = replies.filter(({ status }) => status === 201).length
  for (const { status } of replies) assert.ok([201, 503].includes(status))
  assert.equal(await total(), before)
  assert.equal(await contacts(), had + made)
  setLastId(BigInt(seq))
  assert.equal((await make()).status, 201)
  const stored = readStored(rapport.data_dir)
  const rows = (sql: string) => stored.rows(sql)[0]?.n
  assert.equal(
    rows("SELECT count(*) n FROM events WHERE event = 'company.created'"),
    rows('SELECT count(*) n FROM companies'),
  )
  assert.equal(
    rows("SELECT count(*) n FROM events WHERE event = 'contact.created'"),
    rows('SELECT count(*) n FROM contacts'),
  )
  stored.close()
})
