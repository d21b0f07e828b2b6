// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { emit } from '../../events/emit.ts'
import { companyCreated } from '../../resources/companies/resource.ts'
import { contactCreated } from '../../resources/contacts/events.ts'
import { runWork } from '../../work/run.ts'
import { removeOld } from '../log/retention.ts'
import { removalWork, removeWebhook } from '../registration/removal.ts'
import { claimDue } from './claim.ts'
import { fanOutWork } from './fanouts.ts'
import { queueNumbers } from './queue.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
  for (let n = 10; n < 40; n++) await outbox.webhook(`wh_${n}`)
})
afterEach(() => outbox.close())

const never = new AbortController().signal
const drain = async () => {
  await runWork(outbox, fanOutWork, never)
  await runWork(outbox, removalWork, never)
}
const count = (name: string) => countOf(outbox.db, outbox.workspace_id, name)
const waiting = () => outbox.db.selectFrom('work').where('kind', '=', 'fan_out').selectAll().execute()
const logged = () =>
  outbox.db
    .selectFrom('webhook_deliveries')
    .select(['webhook_id', 'event_id', 'status', 'finished_at'])
    .execute()

test('a transaction with 3,000 deliveries inserts none of them; the backlog inserts each once', async () => {
  await outbox.events(100)
  assert.deepEqual(await outbox.queue(), [])
  assert.equal((await waiting()).length, 30)
  await Promise.all([drain(), drain()])
  assert.deepEqual(await waiting(), [])
  const all = await logged()
  assert.equal(new Set(all.map(({ webhook_id, event_id }) => `${webhook_id} ${event_id}`)).size, 3000)
  assert.equal(all.length, 3000)
  assert.equal((await outbox.queue()).length, 3000)
  assert.deepEqual(
    [
      await count('deliveries'),
      await count('deliveries.status=pending'),
      await count('deliveries.webhook_id=wh_10'),
    ],
    [3000, 3000, 100],
  )
})

test('the numbers of the queue have the groups of deliveries that wait to be inserted', async () => {
  const { db, clock } = outbox
  const numbers = () => queueNumbers(db, clock.elapsed())
  assert.equal((await numbers()).fanouts, 0)
  await outbox.events(250)
  const { fanouts, due } = await numbers()
  assert.deepEqual([fanouts, due], [60, 0])
  await drain()
  assert.equal((await numbers()).fanouts, 0)
})

test('up to 2,000 deliveries are inserted in the transaction of their events', async () => {
  await outbox.events(66)
  assert.deepEqual([(await outbox.queue()).length, await waiting()], [1980, []])
})

test('a rolled-back transaction leaves nothing to insert', async () => {
  const failed = transaction(outbox.db, async (tx) => {
    for (let n = 0; n < 100; n++) await emit(tx, outbox.context(), companyCreated, { id: n + 1 })
    throw new Error('not this')
  })
  await assert.rejects(failed, /not this/)
  await drain()
  assert.deepEqual([await waiting(), await logged()], [[], []])
})

test('deliveries of a webhook that is deleted before they are inserted are cancelled in the log', async () => {
  await outbox.events(100)
  const removed_at = outbox.context().now
  await transaction(outbox.db, (tx) => removeWebhook(tx, outbox.context(), 'wh_10'))
  outbox.clock.advance(60_000)
  await drain()
  const all = (await logged()).filter(({ webhook_id }) => webhook_id === 'wh_10')
  assert.equal(all.length, 100)
  for (const { status, finished_at } of all)
    assert.deepEqual([status, finished_at], ['cancelled', removed_at])
  assert.deepEqual(
    [await count('deliveries.status=pending'), await count('deliveries.status=cancelled')],
    [2900, 100],
  )
  const removals = await outbox.db.selectFrom('work').selectAll().execute()
  assert.deepEqual([removals, (await outbox.queue()).length], [[], 2900])
})

test('events stay as long as deliveries of them wait to be inserted', async () => {
  await outbox.events(100)
  outbox.clock.advance(40 * 24 * 3600 * 1000)
  await removeOld(outbox.db, outbox.clock, 30)
  await drain()
  assert.equal((await outbox.queue()).length, 3000)
})

test('deliveries of ordered webhooks are inserted first, because these webhooks get nothing meanwhile', async () => {
  const { db } = outbox
  const ordered = ['wh_30', 'wh_39']
  await transaction(db, (tx) =>
    tx.updateTable('webhooks').set({ ordered: 1 }).where('id', 'in', ordered).execute(),
  )
  await outbox.events(300)
  await outbox.events(300)
  // Each transaction has a row of 200 events and one of 100 for a webhook.
  const stopping = new AbortController()
  let steps = 0
  const step: typeof fanOutWork.step = (tx, work) => {
    if (++steps === 8) stopping.abort()
    return fanOutWork.step(tx, work)
  }
  await runWork(outbox, { ...fanOutWork, step }, stopping.signal)
  const inserted = Map.groupBy(await logged(), ({ webhook_id }) => webhook_id)
  assert.deepEqual([...inserted.keys()].sort(), ordered)
  for (const all of inserted.values()) assert.equal(all.length, 600)
  await drain()
  assert.deepEqual(await waiting(), [])
})

test('old events without a delivery are removed while deliveries of newer events wait to be inserted', async () => {
  const { db, clock } = outbox
  await transaction(db, (tx) => emit(tx, outbox.context(), contactCreated, { id: 1 }))
  clock.advance(1)
  await outbox.events(100)
  clock.advance(40 * 24 * 3600 * 1000)
  await removeOld(db, clock, 30)
  const left = await db.selectFrom('events').select('event').execute()
  assert.deepEqual(
    [left.length, new Set(left.map(({ event }) => event))],
    [100, new Set(['company.created'])],
  )
})

test('an ordered webhook gets nothing while deliveries of it wait to be inserted, and then each record in order', async () => {
  const { db, workspace_id } = outbox
  await transaction(db, (tx) =>
    tx.updateTable('webhooks').set({ ordered: 1 }).where('id', '=', 'wh_10').execute(),
  )
  await outbox.events(100)
  // A later change of the same records, whose deliveries are inserted first.
  await outbox.events(5)
  const claim = () => {
    const webhooks = [{ workspace_id, webhook_id: 'wh_10', ordered: 1 as const }]
    const moment = { now_ms: outbox.clock.now(), elapsed_ms: outbox.clock.elapsed() }
    const round = { claim_id: 'clm_1', moment, lease_ms: 40_000, fits: () => true, idle: false }
    return transaction(db, (tx) => claimDue(tx, { ...round, webhooks, limit: () => 200 }))
  }
  assert.equal((await outbox.queue()).length, 150)
  assert.deepEqual(await claim(), [])
  await drain()
  const claims = await claim()
  const seqs = claims.map(({ seq }) => seq).sort((a, b) => a - b)
  assert.deepEqual(
    seqs,
    Array.from({ length: 100 }, (_, n) => n + 1),
  )
})
