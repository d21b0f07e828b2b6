import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { keepServiceClock } from '../src/db/service-clock.ts'
import { openScratch } from './engine.ts'
import { client, type Rapport, startRapport, turnableClock } from './harness.ts'
import { beside } from './keys.ts'
import { scratchFolder } from './process.ts'
import { startReceiver } from './receiver.ts'
import { useFor } from './use.ts'
import { attempted, company, delivery, onlyDelivery, register, until } from './webhooks.ts'

const hour_ms = 3600 * 1000
const day_ms = 24 * hour_ms
// As often as it can be, so that what would be removed is.
const removal = { first_ms: 10, every_ms: 20 }

const metric = async ({ url }: Rapport, name: string) => {
  const { text } = await client(url, null)('GET', '/metrics')
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}
const held = (rapport: Rapport) => metric(rapport, 'rapport_removal_held')

/** Waits until every job has asked whether it may remove, and was refused. */
async function refused(rapport: Rapport) {
  const before = await metric(rapport, 'rapport_removal_put_off_total')
  await until(
    () => metric(rapport, 'rapport_removal_put_off_total'),
    (n) => n >= before + 8,
  )
}

/** Something of each kind that is removed when it is old. */
async function fill(rapport: Rapport) {
  const { call } = rapport
  const { id } = await company(call, 'Deleted')
  await call('DELETE', `/api/v1/companies/${id}`)
  await call('POST', '/api/v1/companies', { name: 'Once' }, { 'idempotency-key': 'once' })
  await beside(rapport.data_dir, (db) =>
    transaction(db, async (tx) => {
      const row = { name: 'address 192.0.2.1', failures: 1, last_at_ms: 0, blocked_until_ms: 0 }
      await tx.insertInto('sign_in_failures').values(row).execute()
    }),
  )
}

const counts = ({ data_dir }: Rapport) =>
  beside(data_dir, async (db) => {
    const number = async (table: 'companies' | 'events' | 'idempotency_keys' | 'sign_in_failures') => {
      const { n } = await db
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
      return Number(n)
    }
    return {
      companies: await number('companies'),
      events: await number('events'),
      idempotency_keys: await number('idempotency_keys'),
      sign_in_failures: await number('sign_in_failures'),
    }
  })
const full = { companies: 2, events: 3, idempotency_keys: 1, sign_in_failures: 1 }
const emptied = { companies: 1, events: 0, idempotency_keys: 0, sign_in_failures: 0 }

/** A service that has lived, with something of each kind, and then was stopped. */
async function lived(data_dir: string) {
  const clock = { ...turnableClock(), boot: 'first' }
  const rapport = await startRapport({ clock, data_dir })
  await fill(rapport)
  await rapport.close()
  return { clock, key: rapport.key }
}

test('a start 40 days ahead removes nothing, but removes after a day of service time', async (t) => {
  const data_dir = scratchFolder(t)
  const { clock } = await lived(data_dir)
  clock.set(40 * day_ms)
  const rapport = await startRapport({ clock: { ...clock, boot: 'second' }, data_dir, removal })
  t.after(rapport.close)
  assert.equal(await held(rapport), 1)
  await refused(rapport)
  assert.deepEqual(await counts(rapport), full)
  // The idempotency key is from before: 40 days that the clock made up do not end its day.
  clock.advance(day_ms - 1)
  await refused(rapport)
  assert.deepEqual(await counts(rapport), full)
  clock.advance(1)
  await until(
    () => counts(rapport),
    (now) => JSON.stringify(now) === JSON.stringify(emptied),
  )
  assert.equal(await held(rapport), 0)
})

/** Does what `rapport clock confirm` does, beside the running service. */
async function confirm(data_dir: string, given: Clock) {
  const database = await openScratch(data_dir)
  await (await keepServiceClock(database, { given })).confirm()
  await database.close()
}

test('an administrator’s word lets removal go on at once', async (t) => {
  const data_dir = scratchFolder(t)
  const { clock } = await lived(data_dir)
  clock.advance(40 * day_ms)
  const rapport = await startRapport({ clock, data_dir, removal })
  t.after(rapport.close)
  await refused(rapport)
  assert.deepEqual(await counts(rapport), full)
  await confirm(data_dir, clock)
  await until(
    () => counts(rapport),
    (now) => JSON.stringify(now) === JSON.stringify(emptied),
  )
})

for (const [name, set_ms] of [
  ['40 days ahead', 40 * day_ms],
  ['an hour back', -hour_ms],
] as const)
  test(`a clock that is set ${name} while the service runs stops all removal`, async (t) => {
    const clock = turnableClock()
    const rapport = await startRapport({ clock, removal })
    t.after(rapport.close)
    await fill(rapport)
    clock.advance(29 * day_ms)
    assert.equal(await held(rapport), 0, 'so much has passed, and the clock agrees')
    clock.set(set_ms)
    await refused(rapport)
    clock.advance(day_ms - 1)
    await refused(rapport)
    assert.equal((await counts(rapport)).companies, 2)
    clock.advance(2 * hour_ms)
    await until(() => counts(rapport), { companies: 1 })
  })

test('a clock that is set after its reading, while a job asks, stops the removal', async (t) => {
  const database = await openScratch(scratchFolder(t))
  t.after(database.close)
  await migrate(database)
  const clock = turnableClock()
  let is_set_next = false
  const given = {
    ...clock,
    now() {
      const read_ms = clock.now()
      if (is_set_next) clock.set(40 * day_ms)
      is_set_next = false
      return read_ms
    },
  }
  const service = await keepServiceClock(database, { given })
  assert.equal(await service.mayRemove(), true)
  is_set_next = true
  assert.equal(await service.mayRemove(), false)
  assert.equal(await service.mayRemove(), false)
})

test('a start with a clock before the newest stored time removes nothing', async (t) => {
  const data_dir = scratchFolder(t)
  const { clock } = await lived(data_dir)
  clock.advance(hour_ms)
  clock.set(-2 * hour_ms)
  const rapport = await startRapport({ clock, data_dir, removal })
  t.after(rapport.close)
  await refused(rapport)
  assert.equal(await held(rapport), 1)
})

test('a database of an older version, without a sign of life, is compared with its newest event', async (t) => {
  const data_dir = scratchFolder(t)
  const { clock } = await lived(data_dir)
  await beside(data_dir, (db) =>
    transaction(
      db,
      async (tx) => void (await tx.deleteFrom('settings').where('name', '=', 'clock').execute()),
    ),
  )
  clock.advance(40 * day_ms)
  const rapport = await startRapport({ clock, data_dir, removal })
  t.after(rapport.close)
  await refused(rapport)
  assert.deepEqual(await counts(rapport), full)
})

test('what an older version left due is delivered at once after the upgrade, however old the newest event is', async (t) => {
  const receiver = await useFor(t, startReceiver())
  receiver.answering = () => ({ status: 500 })
  const data_dir = scratchFolder(t)
  const clock = turnableClock()
  const first = await startRapport({ clock, data_dir })
  const hook = await register(first.call, { url: receiver.url })
  await company(first.call)
  const { id } = await onlyDelivery(first.call, hook.id)
  await attempted(first.call, id)
  await first.close()
  clock.advance(3 * day_ms)
  await beside(data_dir, (db) =>
    transaction(db, async (tx) => {
      await tx.deleteFrom('settings').where('name', '=', 'clock').execute()
      await tx.updateTable('webhook_queue').set({ run_at_ms: clock.now() }).execute()
    }),
  )
  const again = await startRapport({ clock, data_dir, removal })
  t.after(again.close)
  await attempted(client(again.url, first.key), id, 2)
  assert.equal(await held(again), 1)
  await refused(again)
})

/** Waits for a number of attempts of the one delivery, without requests: the key has as many as its bucket holds. */
const tried = ({ data_dir }: Rapport, count: number) =>
  until(
    () => beside(data_dir, (db) => db.selectFrom('webhook_deliveries').selectAll().executeTakeFirst()),
    (one) => one?.attempt_count === count,
  )

test('a first start trusts its clock', async (t) => {
  const rapport = await startRapport({ clock: turnableClock(0), removal })
  t.after(rapport.close)
  assert.equal(await held(rapport), 0)
})

for (const [name, set_ms] of [
  ['ahead', hour_ms],
  ['back', -hour_ms],
] as const) {
  test(`a clock that is set an hour ${name} changes nothing of a retry, a replay, a rate limit or a wait`, async (t) => {
    const receiver = await useFor(t, startReceiver())
    receiver.answering = () => ({ status: 500 })
    const clock = turnableClock()
    const rapport = await startRapport({ clock, env: { RATE_LIMIT_PER_SECOND: '10' } })
    t.after(rapport.close)
    const { call } = rapport
    await register(call, { url: receiver.url })
    await company(call)
    await tried(rapport, 1)
    const post = () => call('POST', '/api/v1/deals', { name: 'A' }, { 'idempotency-key': 'a' })
    await post()
    clock.set(set_ms)
    // The bucket is not full again, and not empty for an hour.
    const { headers } = await call('GET', '/api/v1/deals')
    assert.ok(Number(headers.get('ratelimit-remaining')) < 19)
    clock.advance(59_999)
    rapport.wake()
    assert.equal((await post()).headers.get('idempotency-replayed'), 'true')
    assert.equal(receiver.received.length, 1, 'not early')
    clock.advance(1)
    rapport.wake()
    await tried(rapport, 2)
    clock.advance(day_ms)
    assert.equal((await post()).headers.get('idempotency-replayed'), null, 'its day is over')
  })

  test(`a retry is due 60 s after the attempt although the clock is set an hour ${name} between two starts`, async (t) => {
    const receiver = await useFor(t, startReceiver())
    receiver.answering = () => ({ status: 500 })
    const data_dir = scratchFolder(t)
    const clock = turnableClock()
    const first = await startRapport({ clock, data_dir })
    const hook = await register(first.call, { url: receiver.url })
    await company(first.call)
    const { id } = await onlyDelivery(first.call, hook.id)
    await attempted(first.call, id)
    await first.close()
    clock.advance(30_000)
    clock.set(set_ms)
    const again = await startRapport({ clock, data_dir })
    t.after(again.close)
    const call = client(again.url, first.key)
    clock.advance(29_999)
    again.wake()
    await until(() => metric(again, 'rapport_deliveries_due'), 0)
    assert.equal((await delivery(call, id)).attempt_count, 1)
    clock.advance(1)
    again.wake()
    await attempted(call, id, 2)
  })
}
