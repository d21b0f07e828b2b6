import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { readConfig } from '../../src/config.ts'
import { type Database, transaction } from '../../src/db/db.ts'
import { lastSeq } from '../../src/db/event-order.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { emit } from '../../src/events/emit.ts'
import { newestSeq, readEvents } from '../../src/events/feed/queries.ts'
import { companyCreated } from '../../src/resources/companies/resource.ts'
import { calmTime } from '../calm-time.ts'
import { openScratch, settingsOf } from '../engine.ts'
import { startService } from '../faults/service.ts'
import { follow } from '../follower.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { type Outbox, openOutbox } from '../outbox.ts'
import { startPgBouncer } from '../pgbouncer.ts'
import { createDatabase, startPostgres } from '../postgres.ts'
import { scratchFolder } from '../process.ts'
import { bestOfTen } from '../statements.ts'
import { company, until } from '../webhooks.ts'

let outbox: Outbox
before(async () => {
  outbox = await openOutbox()
})
after(() => outbox.close())

/** An open transaction with an event of a record, which the test ends. */
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

const newestOf = ({ workspace_id }: { workspace_id: number } = outbox) => newestSeq(outbox.db, workspace_id)

async function seen(after = 0) {
  const { workspace_id } = outbox
  const stretch = { workspace_id, names: null, groups: null, after, up_to: await newestOf() }
  const { events } = await readEvents(outbox.db, stretch, { limit: 1000, max_bytes: Infinity })
  return events.map(idOf)
}

for (const ending of ['commit', 'rollBack'] as const)
  test(`of two open transactions, the one that commits first has the smaller seq: ${ending}`, async () => {
    const before = await newestOf()
    const [early, late] = [await writing(10), await writing(20)]
    await late.commit()
    assert.deepEqual(await seen(before), [20])
    const meanwhile = await writing(30)
    await early[ending]()
    const both = ending === 'commit' ? [20, 10] : [20]
    assert.deepEqual(await seen(before), both)
    await meanwhile.commit()
    assert.deepEqual(await seen(before), [...both, 30])
  })

test('an open transaction with events holds up no other commit', async () => {
  const before = await newestOf()
  const open = await writing(40)
  await outbox.events(1)
  assert.equal((await seen(before)).length, 1)
  await open.rollBack()
})

test('seqs beyond 31 bits keep the order', async () => {
  for (const at of [2 ** 31 - 3, 2 ** 33 - 2]) {
    await sql`SELECT setval('events_seq_seq', ${sql.lit(at)})`.execute(outbox.db)
    const open = []
    for (let n = 0; n < 6; n++) open.push(await writing(n))
    for (const one of open.reverse()) await one.commit()
    assert.deepEqual(await seen(at), [5, 4, 3, 2, 1, 0])
    assert.equal(await lastSeq(outbox.db), at + 6)
  }
})

test('with many writers in several processes, seq grows in the order of commits, and a follower sees every event once', async (t) => {
  const server = await startPostgres({ settings: { track_commit_timestamp: 'on' } })
  t.after(() => server.stop())
  const url = await createDatabase(server.url, 'event_order')
  const open = () => openDatabase(readConfig({ DATABASE_URL: url }))
  const databases = [await open(), await open(), await open()]
  t.after(() => Promise.all(databases.map((one) => one.close())))
  const [{ db }] = databases as [Database, Database, Database]
  await migrate(databases[0] as Database)
  const workspaces = [1, 2]
  const contextIn = (workspace_id: number) => ({ ...outbox.context(), workspace_id })
  const committed = new Set<number>()
  let id = 1000
  let writing = true
  const wanted = Number(process.env.EVENTS ?? 3000)
  async function write(db: Outbox['db'], workspace_id: number) {
    while (committed.size < wanted) {
      const mine = [++id, ++id]
      const work = transaction(db, async (tx) => {
        // The transactions get their numbers in the order in which they begin.
        await sql`SELECT pg_current_xact_id()`.execute(tx)
        for (const one of mine) {
          await emit(tx, contextIn(workspace_id), companyCreated, { id: one })
          if (Math.random() < 0.1) await sql`SELECT pg_sleep(${sql.lit(Math.random() / 50)})`.execute(tx)
        }
        if (Math.random() < 0.2) throw new Error('changed my mind')
      })
      await work.then(
        () => mine.forEach((one) => void committed.add(one)),
        () => {},
      )
    }
  }
  const followed: number[] = []
  async function follow(workspace_id: number) {
    let after = 0
    for (let last_round = false; ; last_round = !writing) {
      const up_to = await newestSeq(db, workspace_id)
      const stretch = { workspace_id, names: null, groups: null, after, up_to }
      const { events, whole, reached } = await readEvents(db, stretch, { limit: 100, max_bytes: Infinity })
      for (const event of events) {
        assert.equal(JSON.parse(event.payload).sequence, event.seq)
        followed.push(idOf(event))
      }
      after = Math.max(after, reached)
      if (last_round && whole) return
    }
  }
  const following = Promise.all(workspaces.map(follow))
  const writers = Array.from({ length: 16 }, (_, n) =>
    write((databases[n % 3] as Database).db, workspaces[n % 2] as number),
  )
  await Promise.all(writers)
  writing = false
  await following
  const ordered = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b)
  assert.deepEqual(ordered(followed), ordered(committed))
  const { rows } = await sql<{ early: number; overtaken: number }>`
    SELECT count(*) FILTER (WHERE committed < before) AS early, count(*) FILTER (WHERE began < began_before) AS overtaken
    FROM (
      SELECT pg_xact_commit_timestamp(xmin) AS committed, xmin::text::bigint AS began,
        lag(pg_xact_commit_timestamp(xmin)) OVER places AS before, lag(xmin::text::bigint) OVER places AS began_before
      FROM events WINDOW places AS (PARTITION BY workspace_id ORDER BY seq)
    ) AS commits`.execute(db)
  assert.equal(Number(rows[0]?.early), 0)
  assert.ok(Number(rows[0]?.overtaken) > 0, 'the writers did overtake each other')
})

const sameDatabase = () => openScratch(outbox.folder)

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
    // Commits are heard in their order: behind this one, none of before comes.
    told.events = 0
    await outbox.events(1)
    await until(
      async () => told.events,
      (n) => n > 0,
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
  await stream.waitFor(1)
  const tenEvents = async () => {
    for (let n = 0; n < 10; n++) {
      const came = stream.events().length
      await company(one.call, `No ${n}`)
      await stream.waitFor(came + 1)
    }
  }
  const { calm_ms } = await bestOfTen(
    () => calmTime(tenEvents),
    (best) => best.calm_ms < 5000,
  )
  assert.ok(calm_ms < 5000, `${calm_ms} ms: it is told, and does not wait for the clock`)
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
  const byTheClock = async () => {
    const came = stream.events().length
    await company(one.call, 'By the clock')
    await stream.waitFor(came + 1)
  }
  const { calm_ms } = await bestOfTen(
    () => calmTime(byTheClock),
    (best) => best.calm_ms < 3000,
  )
  assert.ok(calm_ms < 3000, `${calm_ms} ms`)
  assert.equal(one.complaints() + two.complaints(), '')
  stream.close()
})
