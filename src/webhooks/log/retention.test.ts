// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { runJobs } from '../../../test/jobs.ts'
import { beside } from '../../../test/keys.ts'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { act, attempted, company, log, register, total, until } from '../../../test/webhooks.ts'
import { readConfig } from '../../config.ts'
import { transaction } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { removeOld } from './retention.ts'

const day_ms = 24 * 3600 * 1000
const clock = turnableClock()
let outbox: Outbox
let rapport: Rapport
let receiver: Receiver
beforeEach(async () => {
  outbox = await openOutbox()
  rapport = await startRapport({ clock, env: { WEBHOOK_RETRY_DELAYS: '60' } })
  receiver = await startReceiver()
})
afterEach(async () => {
  await outbox.close()
  await rapport.close()
  await receiver.close()
})

test('finished deliveries go after their days, counts stay exact, and what is pending stays and is sent', async () => {
  assert.equal(readConfig({}).delivery_log_days, 30)
  const { call } = rapport
  receiver.answering = ({ path }) => ({ status: path === '/hook/bad' ? 500 : 200 })
  const good = await register(call, { url: receiver.url })
  const bad = await register(call, { url: `${receiver.url}/bad` })
  const paused = await register(call, { url: `${receiver.url}/paused` })
  const gone = await register(call, { url: receiver.url })
  for (const { id } of [paused, gone]) await act(call, id, 'pause')
  await company(call)
  await until(
    () => log(call, `webhook_id=${bad.id}`),
    ([one]) => one?.attempt_count === 1,
  )
  clock.advance(60_000)
  rapport.wake()
  await until(() => total(call, 'status=failed'), 1)
  await call('DELETE', `/api/v1/webhooks/${gone.id}`)
  // One event more, a day later, for the good one alone.
  await call('DELETE', `/api/v1/webhooks/${bad.id}`)
  clock.advance(day_ms)
  await company(call)
  await until(() => total(call, `webhook_id=${good.id}&status=succeeded`), 2)
  const before = await log(call)
  assert.deepEqual(before.map(({ status }) => status).sort(), [
    'cancelled',
    'failed',
    'pending',
    'pending',
    'succeeded',
    'succeeded',
  ])

  // Exactly 30 days after the first success. The failure was a minute after it, and the second event a day after it.
  const clean = (days: number) => beside(rapport.data_dir, (db) => removeOld(db, clock, days))
  clock.advance(29 * day_ms - 60_000)
  await clean(30)
  assert.equal(await total(call), 6, 'not a millisecond early')
  clock.advance(60_001)
  await clean(30)
  const kept = await log(call)
  assert.deepEqual(
    kept.map(({ status, webhook_id }) => [status, webhook_id]),
    before
      .slice(0, 2)
      .map(({ status, webhook_id }) => [status, webhook_id])
      .concat([['pending', paused.id]]),
  )
  for (const [query, count] of Object.entries({
    '': 3,
    'status=succeeded': 1,
    'status=failed': 0,
    'status=cancelled': 0,
    'status=pending': 2,
    [`webhook_id=${good.id}`]: 1,
    [`webhook_id=${bad.id}`]: 0,
    [`webhook_id=${gone.id}`]: 0,
    'event=company.created': 3,
    [`webhook_id=${good.id}&status=succeeded`]: 1,
  }))
    assert.equal(await total(call, query), count, query)
  for (const { id } of before.filter(({ id }) => kept.every((one) => one.id !== id)))
    assert.equal((await call('GET', `/api/v1/deliveries/${id}`)).status, 404)
  const rows = await beside(rapport.data_dir, async (db) => ({
    attempts: (await db.selectFrom('webhook_attempts').select('delivery_id').execute()).length,
    events: (await db.selectFrom('events').select('id').execute()).length,
  }))
  assert.deepEqual(rows, { attempts: 1, events: 2 })

  await act(call, paused.id, 'resume')
  for (const { id, webhook_id } of kept) {
    const { status, attempts } = await attempted(call, id)
    assert.equal(status, 'succeeded')
    assert.equal(JSON.parse(String(attempts[0]?.request.body)).webhook_id, webhook_id)
  }
  assert.equal(receiver.received.filter(({ path }) => path === '/hook/paused').length, 2)
})

test('a long log goes batch by batch, and events with it that nobody asked for', async () => {
  const { db } = outbox
  await outbox.events(450)
  await outbox.webhook('wh_a')
  await outbox.events(450)
  await db.transaction().execute(async (tx) => {
    const finished_at = new Date(outbox.clock.now()).toISOString()
    await tx.updateTable('webhook_deliveries').set({ status: 'succeeded', finished_at }).execute()
    await tx.deleteFrom('webhook_queue').execute()
  })
  outbox.clock.advance(30 * day_ms)
  await outbox.events(3)
  outbox.clock.advance(1)
  await removeOld(db, outbox.clock, 30)
  assert.equal((await outbox.deliveries()).length, 3)
  assert.equal((await db.selectFrom('events').select('id').execute()).length, 3)
})

test('two processes that clean at once take nothing from the counts twice', async () => {
  const { db, workspace_id } = outbox
  await outbox.webhook('wh_a')
  await outbox.events(700)
  await transaction(db, async (tx) => {
    const finished_at = new Date(outbox.clock.now()).toISOString()
    await tx.updateTable('webhook_deliveries').set({ finished_at }).execute()
    await tx.deleteFrom('webhook_queue').execute()
  })
  outbox.clock.advance(30 * day_ms + 1)
  await outbox.events(2)
  await Promise.all([removeOld(db, outbox.clock, 30), removeOld(db, outbox.clock, 30)])
  await removeOld(db, outbox.clock, 30)
  for (const name of ['deliveries', 'deliveries.status=pending', 'deliveries.webhook_id=wh_a'])
    assert.equal(await countOf(db, workspace_id, name), 2, name)
  assert.equal((await outbox.deliveries()).length, 2)
  assert.equal((await db.selectFrom('events').select('id').execute()).length, 2)
})

test('the log is cleaned soon after a start and periodically, until the stop', async () => {
  const { db } = outbox
  const events = async () => (await db.selectFrom('events').select('id').execute()).length
  const left = (count: number) => until(events, (n) => n === count)
  await outbox.events(3)
  outbox.clock.advance(2 * day_ms)
  await outbox.events(2)
  const soon = { first_ms: 30, every_ms: 100 }
  const { stop, errors } = runJobs(['delivery log'], soon, { ...outbox, delivery_log_days: 1 })
  await left(2)
  await pause(150)
  assert.equal(await events(), 2, 'recent events stay, although nobody asked for them')
  outbox.clock.advance(2 * day_ms)
  await left(0)
  stop()
  await outbox.events(3)
  outbox.clock.advance(2 * day_ms)
  await pause(150)
  assert.equal(await events(), 3)
  assert.deepEqual(errors, [])
})
