// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Outbox, openOutbox } from '../../test/outbox.ts'
import { transaction } from '../db/db.ts'
import { countOf } from '../db/lists/counts.ts'
import { companyCreated } from '../resources/companies/resource.ts'
import { removeWebhook } from '../webhooks/registration/removal.ts'
import { emit } from './emit.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

const context = () => outbox.context()
const count = (name: string) => countOf(outbox.db, outbox.workspace_id, name)

test('an event makes one delivery for each webhook that asked for it, queued and counted', async () => {
  const ids = Array.from({ length: 30 }, (_, n) => `wh_${n}`).sort()
  for (const id of ids) await outbox.webhook(id)
  await outbox.events(2)
  const deliveries = await outbox.deliveries()
  const queue = await outbox.queue()
  assert.deepEqual(
    queue.map(({ delivery_id, webhook_id, kind, tries, claim_id, run_at_ms }) => ({
      delivery_id,
      webhook_id,
      kind,
      tries,
      claim_id,
      run_at_ms,
    })),
    deliveries.map(({ id, webhook_id }) => ({
      delivery_id: id,
      webhook_id,
      kind: 'event',
      tries: 0,
      claim_id: null,
      run_at_ms: outbox.clock.now(),
    })),
  )
  assert.deepEqual(deliveries.map(({ webhook_id }) => webhook_id).sort(), [...ids, ...ids].sort())
  for (const { status, attempt_count, next_attempt_at, created_at, finished_at } of deliveries)
    assert.deepEqual(
      [status, attempt_count, finished_at],
      ['pending', 0, null],
      next_attempt_at ?? created_at,
    )
  assert.deepEqual(
    [
      await count('deliveries'),
      await count('deliveries.status=pending'),
      await count('deliveries.webhook_id=wh_7'),
    ],
    [60, 60, 2],
  )
})

test('a change in flight while a webhook is deleted leaves no pending delivery', async () => {
  const { db } = outbox
  await outbox.webhook('wh_a')
  const emitted = Promise.withResolvers<void>()
  const change = transaction(db, async (tx) => {
    await emit(tx, context(), companyCreated, { id: 1 })
    emitted.resolve()
    await pause(100)
  })
  await emitted.promise
  const late = transaction(db, (tx) => emit(tx, context(), companyCreated, { id: 2 }))
  const deletion = transaction(db, (tx) => removeWebhook(tx, context(), 'wh_a'))
  await Promise.all([change, late, deletion])
  await transaction(db, (tx) => emit(tx, context(), companyCreated, { id: 3 }))
  assert.deepEqual(await outbox.queue(), [])
  const deliveries = await outbox.deliveries()
  assert.ok(deliveries.length >= 1 && deliveries.length <= 2)
  for (const { status, finished_at } of deliveries)
    assert.deepEqual([status, finished_at], ['cancelled', context().now])
  assert.deepEqual(
    [await count('deliveries.status=pending'), await count('deliveries.status=cancelled')],
    [0, deliveries.length],
  )
})
