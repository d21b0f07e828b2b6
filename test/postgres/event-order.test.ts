import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { insertEvents, settledEvents } from '../../src/db/event-order.ts'
import { emit } from '../../src/events/emit.ts'
import { readEvents } from '../../src/events/feed/queries.ts'
import { companyCreated } from '../../src/resources/companies/resource.ts'
import { openScratch, settingsOf } from '../engine.ts'
import { startService } from '../faults/service.ts'
import { follow } from '../follower.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { type Outbox, openOutbox } from '../outbox.ts'
import { startPgBouncer } from '../pgbouncer.ts'
import { scratchFolder } from '../process.ts'
import { company, until } from '../webhooks.ts'

let outbox: Outbox
before(async () => {
  outbox = await openOutbox()
})
after(() => outbox.close())

/** A transaction that has written an event of a record, and that the test ends. */
async function writing(id: number, name = 'Acme') {
  const written = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const done = transaction(outbox.db, async (tx) => {
    await emit(tx, outbox.context(), companyCreated, { id, name })
    written.resolve()
    await end.promise
  })
  done.catch(() => {})
  await written.promise
  return {
    async commit() {
      end.resolve()
      await done
    },
    async rollBack() {
      end.reject(new Error('rolled back'))
      await assert.rejects(done, /rolled back/)
    },
  }
}

const idOf = ({ payload }: { payload: string }) => JSON.parse(payload).data.id as number

async function seen(after = 0) {
  const { settled } = await settledEvents(outbox.db)
  const stretch = { workspace_id: outbox.workspace_id, event: null, groups: null, after, up_to: settled }
  const { events } = await readEvents(outbox.db, stretch, { limit: 1000, max_bytes: Infinity })
  return { ids: events.map(idOf), settled }
}

test('before the first event, nothing is settled, not even while it is being written', async () => {
  assert.deepEqual(await settledEvents(outbox.db), { last: 0, settled: 0 })
  const first = await writing(1)
  assert.deepEqual(await settledEvents(outbox.db), { last: 1, settled: 0 })
  await first.commit()
  assert.deepEqual(await seen(), { ids: [1], settled: 1 })
})

for (const ending of ['commit', 'rollBack'] as const)
  test(`an event that is committed before an earlier one is shown after it: ${ending}`, async () => {
    const { settled: before } = await seen()
    const [early, late] = [await writing(10), await writing(20)]
    await late.commit()
    assert.deepEqual(await seen(before), { ids: [], settled: before })
    const meanwhile = await writing(30)
    await early[ending]()
    const both = ending === 'commit' ? [10, 20] : [20]
    assert.deepEqual(await seen(before), { ids: both, settled: before + 2 })
    await meanwhile.commit()
    assert.deepEqual(await seen(before), { ids: [...both, 30], settled: before + 3 })
  })

test('a transaction takes one place, however many events it writes', async () => {
  await transaction(outbox.db, async (tx) => {
    for (let id = 100; id < 150; id++) await emit(tx, outbox.context(), companyCreated, { id })
    const { rows } = await sql<{ n: number }>`
      SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`.execute(tx)
    assert.equal(rows[0]?.n, 1)
  })
})

test('places are told apart where the numbers of events outgrow the numbers of locks', async () => {
  for (const at of [2 ** 31 - 3, 2 ** 33 - 2]) {
    await sql`SELECT setval('events_seq_seq', ${sql.lit(at)})`.execute(outbox.db)
    const open = []
    for (let n = 0; n < 6; n++) {
      open.push(await writing(n))
      const { last, settled } = await settledEvents(outbox.db)
      assert.deepEqual([last, settled], [at + n + 1, at])
    }
    const [first, ...others] = open
    await first?.commit()
    assert.deepEqual(await seen(at), { ids: [0], settled: at + 1 })
    for (const other of others) await other.commit()
    assert.deepEqual(await seen(at), { ids: [0, 1, 2, 3, 4, 5], settled: at + 6 })
  }
})

test('with many writers in several processes at once, a follower sees every event once, in order', async () => {
  const { settled: start } = await seen()
  const others = await Promise.all([1, 2].map(() => sameDatabase()))
  const committed = new Set<number>()
  let id = 1000
  let writing = true
  const until_ms = performance.now() + 3000
  async function write(db: Outbox['db']) {
    while (performance.now() < until_ms) {
      const mine = [++id, ++id]
      const work = transaction(db, async (tx) => {
        for (const one of mine) {
          await emit(tx, outbox.context(), companyCreated, { id: one })
          if (Math.random() < 0.3) await sql`SELECT pg_sleep(${sql.lit(Math.random() / 50)})`.execute(tx)
        }
        if (Math.random() < 0.2) throw new Error('changed my mind')
      })
      await work.then(
        () => mine.forEach((one) => void committed.add(one)),
        () => {},
      )
    }
  }
  const followed: { seq: number; id: number }[] = []
  async function followOn() {
    for (let last_round = false; ; last_round = !writing) {
      const { settled } = await settledEvents(outbox.db)
      const after = followed.at(-1)?.seq ?? start
      const stretch = { workspace_id: outbox.workspace_id, event: null, groups: null, after, up_to: settled }
      const { events, whole } = await readEvents(outbox.db, stretch, { limit: 100, max_bytes: Infinity })
      for (const event of events) followed.push({ seq: event.seq, id: idOf(event) })
      if (last_round && whole) return
    }
  }
  const following = followOn()
  const handles = [outbox.db, ...others.map(({ db }) => db)]
  await Promise.all(Array.from({ length: 24 }, (_, n) => write(handles[n % 3] as Outbox['db'])))
  writing = false
  await following
  for (const other of others) await other.close()
  assert.ok(committed.size > 300, `${committed.size}`)
  assert.deepEqual(
    followed.map(({ id }) => id).sort((a, b) => a - b),
    [...committed].sort((a, b) => a - b),
  )
  const { rows } = await sql<{ disorder: number }>`
    SELECT count(*) AS disorder FROM (SELECT seq, lag(xmin::text::bigint) OVER (ORDER BY seq) > xmin::text::bigint AS later
      FROM events WHERE seq > ${start}) AS e WHERE later`.execute(outbox.db)
  assert.ok(Number(rows[0]?.disorder) > 0, 'the writers did overtake each other')
})

const sameDatabase = () => openScratch(outbox.folder)

test('an event that is written alone, for no webhook, keeps the order too', async () => {
  const { settled: before } = await seen()
  const { workspace_id } = outbox
  await transaction(outbox.db, async (tx) => {
    const event = {
      workspace_id,
      event: 'company.created',
      occurred_at: '',
      record_id: null,
      payload: '{}',
      traceparent: null,
    }
    await insertEvents(tx, [{ ...event, id: 'evt_alone' }])
    assert.equal((await settledEvents(outbox.db)).settled, before)
  })
  assert.equal((await settledEvents(outbox.db)).settled, before + 1)
})

test('a commit that brings events alone wakes those who wait for events, in every process, and no dispatcher', async (t) => {
  const other = await sameDatabase()
  t.after(() => other.close())
  for (const database of [outbox.database, other]) {
    const told = { events: 0, deliveries: 0 }
    for (const news of ['events', 'deliveries'] as const) database.onCommit(news, () => told[news]++)
    // A new listener is called once for every topic.
    await until(
      async () => told,
      ({ events, deliveries }) => events > 0 && deliveries > 0,
    )
    told.events = 0
    told.deliveries = 0
    await outbox.events(1)
    await until(
      async () => told.events,
      (n) => n > 0,
    )
    assert.equal(told.deliveries, 0)
    await outbox.webhook(`wh_${database === other}`)
    await outbox.events(1)
    await until(
      async () => told.deliveries,
      (n) => n > 0,
    )
    await sql`DELETE FROM webhook_subscriptions`.execute(outbox.db)
  }
})

const names = (events: { data?: string }[]) =>
  events.map(({ data = '{}' }) => (JSON.parse(data) as { data: { name: string } }).data.name)

test('a stream of one process brings the events of another one within a second, and goes on at the other', async (t) => {
  const data_dir = scratchFolder(t)
  const one = await startRapport({ data_dir })
  const two = await startRapport({ data_dir })
  t.after(() => Promise.all([one.close(), two.close()]))
  const { key } = one
  const stream = await follow(two.url, key)
  t.after(stream.close)
  // Until its connection listens, it polls by the clock.
  await company(one.call, 'First')
  await stream.waitFor(1, 2000)
  const begun = performance.now()
  for (let n = 0; n < 10; n++) {
    await company(one.call, `No ${n}`)
    await stream.waitFor(n + 2)
  }
  assert.ok(performance.now() - begun < 5000, 'it is told, and does not wait for the clock')
  await stopOf(two)
  await stream.ended
  await company(one.call, 'Meanwhile')
  const next = await follow(one.url, key, { headers: { 'last-event-id': stream.last_id() } })
  t.after(next.close)
  assert.deepEqual(names(await next.waitFor(1)), ['Meanwhile'])
})

const stopOf = ({ stop }: Rapport) => stop()

test('a follower of a killed process goes on at another, with every event once', async (t) => {
  const data_dir = scratchFolder(t)
  const one = await startService(data_dir)
  const two = await startService(data_dir, { key: one.key })
  t.after(() => Promise.all([one.end('SIGKILL'), two.end('SIGKILL')]))
  const made: string[] = []
  let over = false
  const writers = Array.from({ length: 6 }, async (_, n) => {
    for (let m = 0; !over; m++) {
      const { status } = await two.call('POST', '/api/v1/companies', { name: `${n}.${m}` })
      if (status === 201) made.push(`${n}.${m}`)
    }
  })
  const first = await follow(one.url, one.key)
  await first.waitFor(30)
  await one.end('SIGKILL')
  await first.ended
  const headers = { 'last-event-id': first.last_id() }
  const second = await follow(two.url, one.key, { headers, query: '?cursor=0' })
  await second.waitFor(30)
  over = true
  await Promise.all(writers)
  const start = Number(first.frames[0]?.id)
  const all = () => [...first.events(), ...second.events()]
  const reply = await two.call('GET', '/api/v1/events?sort=-timestamp&per_page=1')
  const last = JSON.stringify(reply.body.data[0])
  await until(
    async () => all().at(-1)?.data === last,
    (there) => there,
  )
  const ids = all().map(({ id }) => Number(id))
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  )
  assert.ok(ids.every((id) => id > start))
  const expected: string[] = []
  for (let cursor: string | null = String(start), more = true; more; ) {
    const { body } = await two.call('GET', `/api/v1/events?per_page=100&cursor=${cursor}`)
    expected.push(...body.data.map(({ data }: { data: { name: string } }) => data.name))
    cursor = body.meta.next_cursor
    more = body.meta.has_more
  }
  assert.deepEqual(names(all()), expected)
  assert.ok(new Set(expected).isSubsetOf(new Set(made)) && expected.length >= 60)
  second.close()
})

test('through PgBouncer the order holds, and streams bring the events of other processes by the clock', async (t) => {
  const data_dir = scratchFolder(t)
  const { DATABASE_URL = '' } = await settingsOf(data_dir)
  const pooler = await startPgBouncer(t, DATABASE_URL)
  const env = { DATABASE_URL: pooler.url, LOG_LEVEL: 'warn' }
  const one = await startService(data_dir, { env })
  const two = await startService(data_dir, { env, key: one.key })
  t.after(() => Promise.all([one.end('SIGKILL'), two.end('SIGKILL')]))
  const stream = await follow(two.url, one.key)
  const writers = Array.from({ length: 12 }, async (_, n) => {
    for (let m = 0; m < 20; m++) await company((n % 2 ? one : two).call, `${n}.${m}`)
  })
  await Promise.all(writers)
  const events = await stream.waitFor(240)
  assert.equal(new Set(names(events)).size, 240)
  const begun = performance.now()
  await company(one.call, 'By the clock')
  await stream.waitFor(241)
  assert.ok(performance.now() - begun < 3000)
  assert.equal(one.complaints() + two.complaints(), '')
  stream.close()
})
