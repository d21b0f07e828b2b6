import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { transaction } from '../../src/db/db.ts'
import { lockTexts } from '../../src/db/locks.ts'
import { openScratch } from '../engine.ts'
import { type Service, startService } from '../faults/service.ts'
import type { Reply } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { until } from '../webhooks.ts'

/** Four processes on one database. Each has a connection for every batch of these tests, so none waits for one. */
async function fourProcesses(t: TestContext): Promise<Service[]> {
  const data_dir = scratchFolder(t)
  const env = { DATABASE_POOL_SIZE: '20', LOG_LEVEL: 'warn' }
  const first = await startService(data_dir, { env })
  const others = await Promise.all([1, 2, 3].map(() => startService(data_dir, { env, key: first.key })))
  const services = [first, ...others]
  t.after(() => Promise.all(services.map((service) => service.end('SIGKILL'))))
  return services
}

// A busy machine opens no connection in 5 s, frees none in this time, or does not get through the batches before this one
// in 20 s.
const is_busy = /due to (connection|lock) timeout|timeout exceeded when trying to connect|became free in time/

/** Sends a batch, again while the machine is too busy for it. */
async function sendBatch(service: Service, items: object[]): Promise<Reply> {
  for (;;) {
    const reply = await service.call('POST', '/api/v1/contacts/batch', { items })
    if (reply.status !== 503) return reply
    const { request_id } = reply.body.error
    const cause = await until(
      async () => service.log().find((line) => line.includes(request_id)),
      (line) => line !== undefined,
    )
    assert.match(cause ?? '', is_busy)
  }
}

test('50 upserts of one new e-mail address, in four processes, make one contact', async (t) => {
  const services = await fourProcesses(t)
  const name = { first_name: 'Ana', last_name: 'Ruiz' }
  const upsert = (email: string) => ({ op: 'upsert', match: 'email', data: { ...name, email } })
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      // Several addresses in different orders: the batches wait for each other.
      sendBatch(
        services[n % 4] as Service,
        ['a', 'b', 'c', 'd', 'e'].map((_, at, all) => upsert(`${all[(at + n) % 5]}@acme.example`)),
      ),
    ),
  )
  for (const reply of replies) assert.equal(reply.status, 200, reply.text)
  const ids = new Set(replies.flatMap((reply) => reply.body.data.map(({ id }: { id: number }) => id)))
  assert.equal(ids.size, 5)
  assert.equal((await services[0]?.call('GET', '/api/v1/contacts'))?.body.meta.total, 5)
})

test('50 upserts of one new value of a unique custom field, in four processes, make one contact', async (t) => {
  const services = await fourProcesses(t)
  const field = { resource: 'contacts', key: 'number', type: 'text', unique: true }
  assert.equal((await services[0]?.call('POST', '/api/v1/custom-fields', field))?.status, 201)
  const upsert = (custom_fields: object) => ({
    op: 'upsert',
    match: 'custom_fields.number',
    data: { first_name: 'Ana', last_name: 'Ruiz', custom_fields },
  })
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      sendBatch(services[n % 4] as Service, [upsert({ number: 'A', n }), upsert({ number: `own ${n}` })]),
    ),
  )
  for (const reply of replies) assert.equal(reply.status, 200, reply.text)
  assert.equal(new Set(replies.map((reply) => reply.body.data[0].id)).size, 1)
  assert.equal((await services[0]?.call('GET', '/api/v1/contacts'))?.body.meta.total, 51)
})

test('an upsert waits for others of its value for longer than for other locks', async (t) => {
  const service = await startService(scratchFolder(t))
  t.after(() => service.end('SIGKILL'))
  const database = await openScratch(service.data_dir)
  t.after(() => database.close())
  const held = transaction(database.db, async (tx) => {
    await lockTexts(tx, 'upsert', 1, ['email=ana@acme.example'])
    await pause(5500)
  })
  const data = { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@acme.example' }
  const { status, text } = await service.call('POST', '/api/v1/contacts/batch', {
    items: [{ op: 'upsert', match: 'email', data }],
  })
  assert.equal(status, 200, text)
  await held
})
