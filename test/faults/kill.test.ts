import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readStored } from '../database.ts'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { attempted, company, onlyDelivery, register, total, until, webhook } from '../webhooks.ts'
import { type Service, startService } from './service.ts'

let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
})
after(() => receiver.close())

// On PostgreSQL nobody knows whether the owner of a lease is gone: what it held is sent when its leases have ended.
const env = { WEBHOOK_TIMEOUT_MS: '1000' }
const patience_ms = 45_000

type Acknowledged = { resource: 'companies' | 'deals'; id: number; name: string; stage?: string }

/** Writes with many clients until the service is gone; what it acknowledged stands in the list. */
async function burst({ call }: Service, acknowledged: Acknowledged[]) {
  let gone = false
  async function writer(number: number) {
    for (let n = 0; !gone; n++) {
      const name = `Writer ${number}, ${n}`
      const resource = n % 2 ? 'companies' : 'deals'
      const made = await call('POST', `/api/v1/${resource}`, { name })
      assert.equal(made.status, 201, made.text)
      const entry: Acknowledged = { resource, id: made.body.data.id, name }
      acknowledged.push(entry)
      if (resource === 'companies') continue
      const won = await call('POST', `/api/v1/deals/${entry.id}/change-stage`, { stage: 'won' })
      assert.equal(won.status, 200, won.text)
      entry.stage = 'won'
    }
  }
  // A request that got no answer is one that was not acknowledged; a wrong answer is a failure.
  const ended = Array.from({ length: 16 }, (_, number) =>
    writer(number).catch((error) => {
      gone = true
      if (error.code === 'ERR_ASSERTION') throw error
    }),
  )
  return Promise.all(ended)
}

/** Compares the records with the events, both ways, in the database itself. */
async function checkStored(data_dir: string, acknowledged: Acknowledged[]) {
  const { rows, close } = await readStored(data_dir)
  const ids = async (sql: string) => (await rows(sql)).map(({ id }) => Number(id))
  const events = (event: string) =>
    ids(`SELECT record_id AS id FROM events WHERE event = '${event}' ORDER BY id`)
  for (const [resource, event] of [
    ['companies', 'company.created'],
    ['deals', 'deal.created'],
  ] as const) {
    assert.deepEqual(
      await events(event),
      await ids(`SELECT id FROM ${resource} ORDER BY id`),
      'a record for each event, once',
    )
    const found = await rows(`SELECT id, name FROM ${resource}`)
    const stored = new Map(found.map(({ id, name }) => [id, name]))
    for (const one of acknowledged.filter((one) => one.resource === resource))
      assert.equal(stored.get(one.id), one.name, `${resource} ${one.id} was acknowledged`)
  }
  const won = await ids("SELECT id FROM deals WHERE stage = 'won' ORDER BY id")
  assert.deepEqual(await events('deal.won'), won)
  assert.deepEqual(await events('deal.stage_changed'), won)
  for (const { id, stage } of acknowledged)
    assert.ok(stage !== 'won' || won.includes(id), `deal ${id} was won`)
  // Totals are kept beside the records: they must agree too.
  for (const resource of ['companies', 'deals', 'webhook_deliveries']) {
    const kept = await rows(
      'SELECT sum(n) AS n FROM record_counts WHERE name = ?',
      resource.replace('webhook_', ''),
    )
    assert.deepEqual(kept, await rows(`SELECT count(*) AS n FROM ${resource}`), resource)
  }
  const event_ids = (await rows('SELECT id FROM events')).map(({ id }) => String(id))
  await close()
  return event_ids
}

test('kill -9 in the middle of a burst, again and again: nothing acknowledged is lost, nothing half done', async (t) => {
  const data_dir = scratchFolder(t)
  const acknowledged: Acknowledged[] = []
  let service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  const { key } = service
  const events = ['company.created', 'deal.created', 'deal.stage_changed', 'deal.won']
  const hook = await register(service.call, { url: receiver.url, events })
  // Some answers come late, so that attempts are in flight at the kill.
  receiver.answering = (_request, number) => (number % 10 ? {} : { delay_ms: 60 })

  for (const writes of [60, 25, 110]) {
    const before = acknowledged.length
    const writing = burst(service, acknowledged)
    let over = false
    const end = () => {
      over = true
    }
    writing.then(end, end)
    while (acknowledged.length < before + writes && !over) await pause(1)
    assert.equal(await service.end('SIGKILL'), null)
    await writing
    await checkStored(data_dir, acknowledged)
    service = await startService(data_dir, { env, key })
  }

  await until(
    () => total(service.call, 'status=pending'),
    (n) => n === 0,
    patience_ms,
  )
  const event_ids = await checkStored(data_dir, acknowledged)
  assert.equal(await total(service.call, 'status=succeeded'), event_ids.length)
  assert.equal((await webhook(service.call, hook.id)).status, 'active')

  // Every event arrived at least once, none that is not stored did, and what came twice is equal to the byte.
  const bodies = new Map<string, string>()
  for (const { headers, body } of receiver.received) {
    const id = String(headers['x-service-delivery'])
    assert.equal(body, bodies.get(id) ?? body)
    bodies.set(id, body)
  }
  assert.deepEqual([...bodies.values()].map((body) => JSON.parse(body).id).sort(), event_ids.sort())
  await receiver.verify(hook.secret)
  for (const { resource, id, name } of acknowledged.slice(-20))
    assert.equal((await service.call('GET', `/api/v1/${resource}/${id}`)).body.data.name, name)
  assert.equal(service.complaints(), '')
})

test('a retry that waited when the process was killed comes at its time, not before', async (t) => {
  const env = { WEBHOOK_RETRY_DELAYS: '1' }
  const data_dir = scratchFolder(t)
  let service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  receiver.received.length = 0
  receiver.answering = (_request, number) => ({ status: number === 1 ? 500 : 200 })
  const hook = await register(service.call, { url: receiver.url })
  await company(service.call)
  const { id } = await onlyDelivery(service.call, hook.id)
  const { next_attempt_at } = await attempted(service.call, id)
  await service.end('SIGKILL')
  service = await startService(data_dir, { env, key: service.key })
  const [, second] = await receiver.waitFor(2)
  assert.ok(Number(second?.at_ms) >= Date.parse(String(next_attempt_at)), 'early')
  const { status, attempts } = await attempted(service.call, id, 2)
  assert.deepEqual([status, attempts.length], ['succeeded', 2])
})
