import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { removeOld } from '../log/retention.ts'
import { reasonAgainst, registrationsAt, removeOldRegistrations } from './history.ts'
import { updateWebhook } from './queries.ts'
import { removeWebhook } from './removal.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

const change = (changes: Parameters<typeof updateWebhook>[3], id = 'wh_a') =>
  transaction(outbox.db, (tx) => updateWebhook(tx, outbox.workspace_id, id, changes))

const only = (id: number) => ({ conditions: JSON.stringify([{ field: 'data.id', op: 'eq', value: id }]) })

/** For each event, oldest first, why a webhook does not get it, as its registration of that time says. */
async function reasons(id = 'wh_a') {
  const { db, workspace_id } = outbox
  const events = await db.selectFrom('events').selectAll().orderBy('seq').execute()
  return Promise.all(
    events.map(async ({ seq, event, payload }) => {
      const all = await registrationsAt(db, workspace_id, seq, [id])
      const found = all.find(({ at }) => at.webhook_id === id)
      const reason = found ? reasonAgainst(found.at, event, JSON.parse(payload)) : 'unknown'
      return typeof reason === 'object' && reason ? [reason.condition.value, reason.seen] : reason
    }),
  )
}

test('each event is judged again as it was when it happened, whatever the webhook asks for now', async () => {
  await outbox.events(1)
  await outbox.webhook('wh_a', { events: ['deal.won'] })
  await outbox.events(1)
  await change({ events: ['company.*'] })
  await outbox.events(1)
  await change(only(2))
  await outbox.events(2)
  await change({ events: ['deal.won'] })
  await change({ events: ['*'], conditions: null })
  await outbox.events(1)
  const { db } = outbox
  await transaction(db, (tx) => removeWebhook(tx, outbox.context(), 'wh_a'))
  await outbox.events(1)
  const told = ['no_webhook', 'not_subscribed', null, [2, 1], null, null, 'no_webhook']
  assert.deepEqual(await reasons(), told)
  assert.equal((await outbox.deliveries()).length, told.filter((reason) => reason === null).length)
})

test('a webhook of an older version keeps what it asked for when it changes for the first time', async () => {
  await outbox.webhook('wh_a', { events: ['deal.won'] })
  await transaction(outbox.db, (tx) => tx.deleteFrom('webhook_registrations').execute())
  await outbox.events(1)
  assert.deepEqual(await reasons(), ['not_subscribed'])
  await change({ events: ['*'] })
  await outbox.events(1)
  assert.deepEqual(await reasons(), ['not_subscribed', null])
})

test('registrations go with the events that they judged, and the last one stays', async () => {
  await outbox.webhook('wh_a', { events: ['deal.won'] })
  await outbox.webhook('wh_b', { events: ['deal.won'] })
  for (let n = 1; n <= 5; n++) {
    await change(only(n))
    await outbox.events(1)
  }
  const { db, clock } = outbox
  await transaction(db, (tx) => removeWebhook(tx, outbox.context(), 'wh_b'))
  const kept = async () =>
    (await db.selectFrom('webhook_registrations').select('webhook_id').orderBy('webhook_id').execute()).map(
      ({ webhook_id }) => webhook_id,
    )
  assert.equal(await transaction(db, (tx) => removeOldRegistrations(tx, 100)), 0)
  assert.deepEqual((await kept()).length, 7)
  clock.advance(40 * 24 * 3600 * 1000)
  await outbox.events(1)
  await removeOld(db, clock, 30)
  assert.deepEqual(await kept(), ['wh_a'])
  assert.deepEqual(await reasons(), ['not_subscribed'])
})
