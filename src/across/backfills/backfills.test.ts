// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newWorkspace } from '../../../test/database.ts'
import { client, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { scratchFolder } from '../../../test/process.ts'
import { startReceiver, useReceiver } from '../../../test/receiver.ts'
import { useFor } from '../../../test/use.ts'
import { act, attemptsNothing, type Call, log, register, total, until } from '../../../test/webhooks.ts'
import { transaction } from '../../db/db.ts'

const clock = turnableClock()
const receiver = useReceiver()
const rapport = useRapport({ clock })
let call: Call

/** An empty workspace, and a receiver that has received nothing. */
async function fresh() {
  call = await newWorkspace(rapport)
  receiver.received.length = 0
  receiver.answering = () => ({})
}

async function makeMany(kind: string, count: number): Promise<void> {
  const data = (n: number) =>
    kind === 'contacts'
      ? { first_name: `Ana "${n}" ,"data":{}`, last_name: 'Señalética 山', email: `ana${n}@acme.example` }
      : { name: `Okafor & Sons ${n}` }
  for (let from = 0; from < count; from += 500) {
    const length = Math.min(500, count - from)
    const items = Array.from({ length }, (_, n) => ({ op: 'create', data: data(from + n) }))
    const { status, text } = await call('POST', `/api/v1/${kind}/batch`, { items })
    assert.equal(status, 200, text)
  }
}

const begin = (id: string, body: object) => call('POST', `/api/v1/webhooks/${id}/backfill`, body)
const progress = async (id: string) => (await call('GET', `/api/v1/webhooks/${id}/backfill`)).body.data
const ended = (id: string) =>
  until(
    () => progress(id),
    ({ status }) => status !== 'running',
  )
const idle = () => until(() => total(call, 'status=pending'), 0)

/** The records of a kind, by id. */
async function allOf(kind: string): Promise<Map<number, Record<string, unknown>>> {
  const all = new Map<number, Record<string, unknown>>()
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const { body } = await call('GET', `/api/v1/${kind}?per_page=100&cursor=${cursor}`)
    for (const record of body.data) all.set(record.id, record)
    cursor = body.meta.next_cursor
  }
  return all
}

const payloads = (webhook_id: string) =>
  receiver.received.map(({ body }) => JSON.parse(body)).filter((payload) => payload.webhook_id === webhook_id)

describe('a backfill', () => {
  test('sends each record once, in the order of kinds, to one webhook and not into the feed', async () => {
    await fresh()
    await makeMany('contacts', 230)
    await makeMany('companies', 5)
    const { id } = await register(call, { url: receiver.url, events: ['deal.won'] })
    const { body: feed } = await call('GET', '/api/v1/events?sort=-timestamp&per_page=1')
    const reply = await begin(id, { kinds: ['companies', 'contacts'] })
    assert.equal(reply.status, 202, reply.text)
    assert.deepEqual([reply.body.data.status, reply.body.data.total], ['running', 235])
    const { status, sent, total: all, finished_at } = await ended(id)
    assert.deepEqual([status, sent, all, typeof finished_at], ['succeeded', 235, 235, 'string'])
    await receiver.waitFor(235)
    await idle()
    const got = payloads(id).sort((a, b) => a.sequence - b.sequence)
    assert.deepEqual(
      got.map(({ event }) => event),
      [...Array(5).fill('company.created'), ...Array(230).fill('contact.created')],
    )
    assert.ok(got.every(({ source, actor }) => source === 'backfill' && actor.kind === 'key'))
    assert.deepEqual(
      new Set(got.slice(5).map(({ data }) => data.id)),
      new Set((await allOf('contacts')).keys()),
    )
    const { data } = got.at(-1)
    assert.deepEqual((await call('GET', `/api/v1/contacts/${data.id}`)).body.data.email, data.email)
    const { body: later } = await call('GET', '/api/v1/events?sort=-timestamp&per_page=1')
    assert.deepEqual(later.data, feed.data)
    assert.equal(await total(call, 'status=succeeded'), 235)
  })

  test('that is stopped releases the later events of its records, also while they wait for a retry', async () => {
    await fresh()
    await makeMany('contacts', 1)
    const [contact_id] = [...(await allOf('contacts')).keys()]
    receiver.answering = ({ body }) => ({ status: JSON.parse(body).source === 'backfill' ? 500 : 200 })
    const { id } = await register(call, {
      url: receiver.url,
      ordered: true,
      retry_delays: [604_800],
      events: ['contact.created', 'contact.updated'],
    })
    await begin(id, { kinds: ['contacts'] })
    await receiver.waitFor(1)
    await until(async () => (await call('GET', `/api/v1/deliveries?webhook_id=${id}`)).body.data[0], {
      attempt_count: 1,
    })
    await call('PUT', `/api/v1/contacts/${contact_id}`, { phone: '+49 30 1' })
    // Its delivery comes after a search that met the blocked one.
    await call('POST', '/api/v1/contacts', { first_name: 'Other', last_name: 'Record' })
    await receiver.waitFor(2)
    assert.equal((await call('DELETE', `/api/v1/webhooks/${id}/backfill`)).status, 200)
    await receiver.waitFor(3)
    assert.equal(payloads(id).at(-1)?.event, 'contact.updated')
    await idle()
  })

  test('beside writes: a receiver that keeps the newest sequence of each record ends equal to the API', async () => {
    await fresh()
    await makeMany('contacts', 300)
    receiver.answering = (_request, number) => ({ status: number % 10 === 0 ? 500 : 200 })
    const events = ['contact.created', 'contact.updated', 'contact.deleted']
    const { id } = await register(call, { url: receiver.url, events })
    const ids = [...(await allOf('contacts')).keys()]
    let over = false
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let n = 0; !over; n++) {
        const one = `/api/v1/contacts/${ids[(n * 7 + writer * 53) % ids.length]}`
        if (n % 29 === 0) await call('DELETE', one)
        else await call('PUT', one, { phone: `+49 30 ${writer}-${n}` })
        // Without a rest, they make thousands of deliveries on a busy machine.
        await pause(20)
      }
    })
    await begin(id, { kinds: ['contacts'] })
    await ended(id)
    over = true
    await Promise.all(writers)
    receiver.answering = () => ({})
    // Its retries are due in minutes.
    await until(async () => {
      if (await attemptsNothing(rapport.call)) clock.advance(3600_000)
      return total(call, 'status=pending')
    }, 0)
    const newest = new Map<number, { sequence: number; event: string; data: Record<string, unknown> }>()
    for (const payload of payloads(id)) {
      const known = newest.get(payload.data.id)
      if (!known || known.sequence < payload.sequence) newest.set(payload.data.id, payload)
    }
    const kept = [...newest].filter(([, { event }]) => event !== 'contact.deleted')
    const phones = (records: Iterable<[number, Record<string, unknown>]>) =>
      [...records].map(([id, { phone }]) => [id, phone]).sort(([a], [b]) => Number(a) - Number(b))
    assert.deepEqual(phones(kept.map(([id, { data }]) => [id, data])), phones(await allOf('contacts')))
  })

  test('of records that changed since a time sends only these', async () => {
    await fresh()
    await makeMany('contacts', 130)
    const { id } = await register(call, { url: receiver.url, events: ['deal.won'] })
    clock.advance(60_000)
    const since = new Date(clock.now()).toISOString()
    const changed = [...(await allOf('contacts')).keys()].slice(50, 53).sort()
    for (const one of changed) await call('PUT', `/api/v1/contacts/${one}`, { phone: '+1' })
    await begin(id, { kinds: ['contacts'], since })
    assert.deepEqual((await ended(id)).sent, 3)
    await idle()
    assert.deepEqual(
      payloads(id)
        .map(({ data }) => data.id)
        .sort(),
      changed,
    )
  })

  test('sends what meets the conditions of the webhook', async () => {
    await fresh()
    await makeMany('contacts', 12)
    const conditions = [{ field: 'data.email', op: 'in', value: ['ana3@acme.example', 'ana7@acme.example'] }]
    const { id } = await register(call, { url: receiver.url, events: ['contact.created'], conditions })
    await begin(id, { kinds: ['contacts'] })
    assert.deepEqual(await ended(id).then(({ sent, total }) => [sent, total]), [2, 12])
    await idle()
    assert.deepEqual(
      payloads(id)
        .map(({ data }) => data.email)
        .sort(),
      conditions[0]?.value,
    )
  })

  test('is stopped with what waits, and a second one meanwhile is 409', async () => {
    await fresh()
    await makeMany('contacts', 600)
    // No attempt may succeed before the end.
    const stopped = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: stopped.promise })
    const { id } = await register(call, { url: receiver.url, events: ['contact.created'] })
    assert.equal((await progress(id)).status, 'none')
    await begin(id, { kinds: ['contacts'] })
    // The throttle: it waits for the queue.
    const waiting = await until(
      () => total(call, 'status=pending'),
      (pending) => pending >= 200,
    )
    assert.ok(waiting < 400, `${waiting}`)
    assert.equal((await begin(id, { kinds: ['contacts'] })).status, 409)
    const stop = () => call('DELETE', `/api/v1/webhooks/${id}/backfill`)
    const { status, body } = await stop()
    assert.deepEqual([status, body], [200, { success: true, message: 'The backfill was stopped.' }])
    assert.equal(await total(call, 'status=pending'), 0)
    const stopped_at = await progress(id)
    assert.deepEqual([stopped_at.status, stopped_at.total], ['cancelled', 600])
    const cancelled = await total(call, 'status=cancelled')
    assert.equal(cancelled, stopped_at.sent)
    assert.deepEqual((await stop()).body, { success: true, message: 'No backfill is running.' })
    assert.deepEqual(await progress(id), stopped_at)
    assert.deepEqual((await log(call, 'per_page=1&status=cancelled')).length, 1)
    receiver.answering = () => ({})
    stopped.resolve()
    assert.equal((await begin(id, { kinds: ['companies'] })).status, 202)
    assert.deepEqual((await ended(id)).total, 0)
  })

  test('a stop that a crash interrupted is finished, and another one can begin', async () => {
    await fresh()
    await makeMany('contacts', 300)
    const stopped = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: stopped.promise })
    const { id } = await register(call, { url: receiver.url, events: ['contact.created'] })
    await begin(id, { kinds: ['contacts'] })
    await until(
      () => total(call, 'status=pending'),
      (pending) => pending >= 200,
    )
    // The first transaction of a stop.
    await beside(rapport.data_dir, (db) =>
      transaction(db, (tx) =>
        tx.updateTable('work').set({ state: 'cancelled' }).where('subject', '=', id).execute(),
      ),
    )
    await until(() => total(call, 'status=pending'), 0)
    assert.ok((await total(call, 'status=cancelled')) >= 200)
    receiver.answering = () => ({})
    stopped.resolve()
    assert.equal((await begin(id, { kinds: ['companies'] })).status, 202)
  })

  test('waits while its webhook is paused, and ends with its webhook', async () => {
    await fresh()
    await makeMany('companies', 3)
    const { id } = await register(call, { url: receiver.url, events: ['deal.won'] })
    await act(call, id, 'pause')
    await begin(id, { kinds: ['companies'] })
    assert.deepEqual(await progress(id).then(({ status, sent }) => [status, sent]), ['running', 0])
    await act(call, id, 'resume')
    await ended(id)
    await idle()
    assert.equal(payloads(id).length, 3)
    await begin(id, { kinds: ['companies'] })
    assert.equal((await call('DELETE', `/api/v1/webhooks/${id}`)).status, 200)
    assert.equal((await call('GET', `/api/v1/webhooks/${id}/backfill`)).status, 404)
  })

  test('needs the scopes that read its kinds, and names the kinds that there are', async () => {
    await fresh()
    const { id } = await register(call, { url: receiver.url, events: ['company.created'] })
    const scopes = ['webhooks:read', 'webhooks:write', 'companies:read']
    const { body: made } = await call('POST', '/api/v1/keys', { name: 'Limited', scopes })
    const limited = client(rapport.url, made.data.token)
    const of = (by: Call, body: object) => by('POST', `/api/v1/webhooks/${id}/backfill`, body)
    assert.equal((await of(limited, { kinds: ['contacts'] })).status, 403)
    assert.equal((await of(limited, { kinds: ['companies'] })).status, 202)
    const unknown = await of(call, { kinds: ['notes'] })
    assert.equal(unknown.status, 422)
    assert.match(unknown.body.error.fields[0].message, /contacts/)
    assert.equal((await of(call, {})).status, 422)
  })
})

test('a backfill goes on after a restart, and sends no record twice', async (t) => {
  const data_dir = scratchFolder(t)
  const slow = await useFor(t, startReceiver({ answer: { delay_ms: 20 } }))
  let service = await startRapport({ data_dir })
  t.after(() => service.close())
  call = service.call
  await makeMany('companies', 450)
  const { id } = await register(call, { url: slow.url, events: ['deal.won'] })
  await begin(id, { kinds: ['companies'] })
  await slow.waitFor(20)
  await service.stop()
  const { sent } = { sent: slow.received.length }
  assert.ok(sent < 450)
  const { key } = service
  service = await startRapport({ data_dir })
  call = client(service.url, key)
  assert.equal((await ended(id)).sent, 450)
  await idle()
  assert.equal(await total(call, 'status=succeeded'), 450)
  const ids = slow.received.map(({ body }) => JSON.parse(body).id)
  assert.equal(new Set(ids).size, 450)
})
