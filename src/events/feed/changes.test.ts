// runs: both
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Kysely } from 'kysely'
import { calmTime } from '../../../test/calm-time.ts'
import { newWorkspace } from '../../../test/database.ts'
import { follow } from '../../../test/follower.ts'
import { type Rapport, startRapport } from '../../../test/harness.ts'
import { beside, makeKey } from '../../../test/keys.ts'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { until } from '../../../test/webhooks.ts'
import { revokeKey } from '../../access/keys/keys.ts'
import { role_scopes } from '../../app.ts'
import { isoTime, systemClock } from '../../clock.ts'
import { transaction } from '../../db/db.ts'
import type { Engine } from '../../db/tx.ts'
import { createReadRights } from '../../http/scopes.ts'
import { resources } from '../../resources/index.ts'
import { recordChange } from '../audit.ts'
import { command_line } from '../context.ts'
import { createChanges } from './changes.ts'

const api = '/api/v1'
let service: Rapport
let outbox: Outbox
before(async () => {
  service = await startRapport()
  outbox = await openOutbox()
})
after(async () => {
  await service.close()
  await outbox.close()
})

const call: Rapport['call'] = (method, path, ...rest) => service.call(method, `${api}${path}`, ...rest)
const made = async (path: string, body: object) => (await call('POST', path, body)).body.data.id as number
const appointment = { title: 'Demo', start_at: '2027-01-04T10:00:00Z', end_at: '2027-01-04T11:00:00Z' }
const page = () => ({ slug: `page-${++slugs}`, title: 'Demo', time_zone: 'Europe/Berlin' })
let slugs = 0

/** A stream with changes, and the kinds that it received in each frame. */
async function listen(key = service.key, query = '?changes=true') {
  const stream = await follow(service.url, key, { query })
  const hints = () => stream.events().filter(({ event }) => event === 'changed')
  const told = () => hints().map(({ data = '' }) => (JSON.parse(data) as { kinds: string[] }).kinds)
  const hear = (kind: string, times = 1) =>
    until(
      async () => told(),
      (all) => all.filter((kinds) => kinds.includes(kind)).length >= times,
    )
  return { ...stream, hints, told, hear }
}

test('a stream with hints reports changes without an event at once, and no earlier ones', async (t) => {
  const contact = await made('/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const activity = await made('/activities', { subject: 'Call' })
  const meeting = await made('/appointments', appointment)
  const booking = await made('/booking-pages', page())
  const note = await made(`/contacts/${contact}/notes`, { body: 'Met' })
  const stream = await listen()
  t.after(stream.close)
  const waited_ms: number[] = []
  const steps: [kind: string, method: string, path: string, body?: object][] = [
    ['notes', 'POST', `/contacts/${contact}/notes`, { body: 'Met again' }],
    ['notes', 'PUT', `/contacts/${contact}/notes/${note}`, { body: 'Wrote' }],
    ['notes', 'DELETE', `/contacts/${contact}/notes/${note}`],
    ['notes', 'POST', `/contacts/${contact}/notes/${note}/restore`],
    ['activities', 'PUT', `/activities/${activity}`, { outcome: 'Nobody there' }],
    ['activities', 'POST', `/activities/${activity}/complete`],
    ['activities', 'POST', `/activities/${activity}/reopen`],
    ['activities', 'DELETE', `/activities/${activity}`],
    ['activities', 'POST', `/activities/${activity}/restore`],
    ['appointments', 'DELETE', `/appointments/${meeting}`],
    ['booking_pages', 'PUT', `/booking-pages/${booking}`, { duration_minutes: 45 }],
    ['booking_pages', 'DELETE', `/booking-pages/${booking}`],
    ['views', 'POST', '/views', { list: 'contacts', name: 'Leads', query: 'stage=lead' }],
    ['api_keys', 'POST', '/keys', { name: 'Website form' }],
  ]
  for (const [n, [kind, method, path, body]] of steps.entries()) {
    const { calm_ms } = await calmTime(async () => {
      const { status, text } = await call(method, path, body)
      assert.ok(status < 300, text)
      assert.deepEqual((await stream.hear(kind, 1 + n - steps.findIndex(([one]) => one === kind)))[n], [kind])
    })
    waited_ms.push(calm_ms)
  }
  // By the clock it would be a second for each.
  const median = waited_ms.sort((a, b) => a - b)[waited_ms.length >> 1] as number
  assert.ok(median < 500, String(waited_ms))
  for (const { id, data } of stream.hints()) {
    assert.equal(id, undefined)
    assert.deepEqual(Object.keys(JSON.parse(data ?? '')), ['kinds'])
  }
})

test('the events of a stream, and its place, are the same with and without changes', async (t) => {
  const streams = await Promise.all(
    ['', '?changes=false', '?changes=true'].map((query) => listen(undefined, query)),
  )
  for (const stream of streams) t.after(stream.close)
  const contact = await made('/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  await made(`/contacts/${contact}/notes`, { body: 'Met' })
  await streams[2]?.hear('notes')
  await made('/companies', { name: 'Last' })
  const events = await Promise.all(
    streams.map(({ events }) =>
      until(
        async () => events().filter(({ event }) => event !== 'changed'),
        (all) => all.length === 2,
      ),
    ),
  )
  await streams[2]?.hear('companies')
  assert.deepEqual(events[1], events[0])
  assert.deepEqual(events[2], events[0])
  const ids = streams.map((stream) => stream.last_id())
  assert.deepEqual(new Set(ids).size, 1)
  assert.deepEqual(
    streams.slice(0, 2).flatMap(({ told }) => told()),
    [],
  )
})

test('a kind is reported only to callers who may list it: not keys and members to a member, and nothing to another workspace', async (t) => {
  const member = await makeKey(service, { scopes: role_scopes.of('member') })
  const narrow = await makeKey(service, { scopes: ['events:read', 'deals:read'] })
  const everyone = await Promise.all([service.key, member.token, narrow.token].map((key) => listen(key)))
  for (const stream of everyone) t.after(stream.close)
  const another = await newWorkspace(service)
  await another('POST', `${api}/activities`, { subject: 'Elsewhere' })
  await made('/keys', { name: 'Website form' })
  await call('PUT', '/workspace', { name: 'Renamed' })
  await call('POST', '/invitations', { email: 'ana@example.com', role: 'member' })
  await made('/companies', { name: 'Acme' })
  await made('/deals', { name: 'Signs' })
  const told = await Promise.all(
    everyone.map(async ({ hear }) => [...new Set((await hear('deals')).flat())].sort()),
  )
  assert.deepEqual(told, [
    ['api_keys', 'companies', 'deals', 'invitations'],
    ['companies', 'deals'],
    ['deals'],
  ])
})

test('a change that is made beside the service is reported, too', async (t) => {
  const { id } = await makeKey(service)
  const stream = await listen()
  t.after(stream.close)
  await beside(service.data_dir, (db) => revokeKey(db, systemClock, command_line, id))
  await stream.hear('api_keys')
})

test('a change that commits while a stream opens is visible when it is open, or is reported', async () => {
  for (let n = 0; n < 10; n++) {
    const name = `Opened with ${n}`
    const writing = made('/companies', { name })
    const stream = await listen()
    const found = await call('GET', `/companies?search=${encodeURIComponent(name)}`)
    if (!found.body.data.length) await stream.hear('companies')
    await writing
    stream.close()
  }
})

test('changes is true or false, also for HEAD', async () => {
  for (const value of ['', '1', 'TRUE', 'notes']) {
    const { status, body } = await call('GET', `/events/stream?changes=${value}`)
    assert.deepEqual([status, body.error.fields[0].field], [422, 'changes'], value)
  }
  assert.equal((await call('HEAD', '/events/stream?changes=true')).status, 200)
  assert.equal((await call('HEAD', '/events/stream?changes=1')).status, 422)
})

/** Listeners without streams: the entries that each poll reads, and the kinds that each listener gets. */
async function listeners(count: number) {
  const changes = createChanges(outbox.db, outbox.clock, createReadRights(resources), () => {})
  const actor = { kind: 'key', id: 'key_test' } as const
  const begin = async () => ({
    access: { id: 'key_test', actor, workspace_id: 1, scopes: null as string[] | null, expires_at: null },
    hints: await changes.begin({ workspace_id: 1, actor }),
    blocked: false,
    told: [] as string[],
  })
  const first = await begin()
  const all = [first, ...(await Promise.all(Array.from({ length: count - 1 }, begin)))]
  const tell = (to = all) => changes.sendHints(to, ({ told }, frame) => void told.push(frame))
  /** Polls until the first listener got a kind. */
  const hear = (kind: string) => until(tell, () => first.told.some((frame) => frame.includes(kind)))
  return { all, first, tell, hear }
}
const frames = (...kinds: string[][]) =>
  kinds.map((kinds) => `event: changed\ndata: ${JSON.stringify({ kinds })}\n\n`)
const change = (kind: string) =>
  transaction(outbox.db, async (tx) =>
    recordChange(tx, outbox.context(), { action: 'updated', kind, record_id: 1 }),
  )

test('all streams of a workspace share one query, and without a stream there is no query', async () => {
  const { all, tell, hear } = await listeners(10)
  const { adapter } = (outbox.db as unknown as Kysely<unknown>).getExecutor() as unknown as {
    adapter: Engine
  }
  const { read } = adapter
  let queries = 0
  ;(adapter as { read: Engine['read'] }).read = function (...query) {
    queries++
    return read.apply(this, query)
  }
  try {
    await tell([])
    assert.equal(queries, 0)
    await change('notes')
    await hear('notes')
    assert.equal(queries, 1)
  } finally {
    ;(adapter as { read: Engine['read'] }).read = read
  }
  for (const { told } of all) assert.deepEqual(told, frames(['notes']))
})

test('a change is reported once, also one that commits after later ones', async () => {
  const { first, hear } = await listeners(1)
  const insert = (id: number, kind: string, ago_ms: number) =>
    outbox.db.transaction().execute((tx) =>
      tx
        .insertInto('audit_log')
        .values({
          id,
          kind,
          workspace_id: 1,
          occurred_at: isoTime(outbox.clock.now() - ago_ms),
          action: 'updated',
          record_id: '1',
          actor_kind: 'key',
          actor_id: null,
          before: null,
          after: null,
          request_id: null,
        } as never)
        .execute(),
    )
  await insert(2_000_002, 'deals', 0)
  await hear('deals')
  await insert(2_000_001, 'notes', 3000)
  await hear('notes')
  assert.deepEqual(first.told, frames(['deals'], ['notes']))
})

test('changes during a pause of the polls are reported after it, however long it was', async () => {
  const { first, hear } = await listeners(1)
  await change('notes')
  outbox.clock.advance(3_600_000)
  await change('deals')
  await hear('deals')
  assert.deepEqual(first.told, frames(['deals', 'notes']))
})

test('a blocked client gets one hint of all changes later, without the kinds of a scope that it lost', async () => {
  const { all, tell, hear } = await listeners(3)
  const [, slow, narrowed] = all
  assert.ok(slow && narrowed)
  for (const one of [slow, narrowed]) one.blocked = true
  for (const kind of ['notes', 'deals', 'api_keys']) {
    await change(kind)
    await hear(kind)
  }
  assert.deepEqual([slow.told, narrowed.told], [[], []])
  for (const one of [slow, narrowed]) one.blocked = false
  narrowed.access.scopes = ['events:read', 'deals:read']
  await tell()
  assert.deepEqual(slow.told, frames(['api_keys', 'deals', 'notes']))
  assert.deepEqual(narrowed.told, frames(['deals']))
})
