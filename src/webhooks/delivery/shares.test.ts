import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { emit } from '../../events/emit.ts'
import { contactCreated } from '../../resources/contacts/events.ts'
import type { Sender } from './deliver.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'

let outbox: Outbox
let dispatcher: Dispatcher
/** While it is pending, no attempt ends. */
let answers: PromiseWithResolvers<void>
const errors: unknown[] = []
beforeEach(async () => {
  outbox = await openOutbox()
  answers = Promise.withResolvers()
  const { database, clock, seal } = outbox
  const onError = (error: unknown) => void errors.push(error)
  dispatcher = createDispatcher({
    database,
    clock,
    seal,
    sender,
    retry_delays: [60],
    timeout_ms: 10_000,
    onError,
  })
})
afterEach(async () => {
  answers.resolve()
  await dispatcher.stop(10_000)
  await outbox.close()
})

const sender: Sender = {
  async send({ url, headers }) {
    await pause(1)
    await answers.promise
    const response = { status: 200, headers: {}, body: '' }
    return { started_at_ms: 0, duration_ms: 1, request: { url, headers }, response, error: null, ok: true }
  },
  async close() {},
}

/** The attempts in flight of each webhook. A commit ends attempts and claims the next, so it shows no gap between them. */
async function inFlight(): Promise<Map<string, number>> {
  const { rows } = await sql<{ webhook_id: string; n: number }>`
    SELECT webhook_id, count(*) AS n FROM webhook_queue WHERE claim_id IS NOT NULL GROUP BY webhook_id`.execute(
    outbox.db,
  )
  return new Map(rows.map(({ webhook_id, n }) => [webhook_id, Number(n)]))
}

async function until(holds: () => Promise<boolean>) {
  const deadline = performance.now() + 60_000
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `never: ${holds}`)
    await pause(2)
  }
}

/** Writes events for the first webhook only. */
const eventsOfFirst = (count: number) =>
  transaction(outbox.db, async (tx) => {
    for (let n = 0; n < count; n++)
      await emit(tx, outbox.context(), contactCreated, { ...contactCreated.example, id: n + 1 })
  })

test('a webhook that had 128 places first shrinks to its share when eight others get a backlog', async () => {
  await outbox.webhook('wh_0', { events: ['company.created', 'contact.created'] })
  for (let n = 1; n < 9; n++) await outbox.webhook(`wh_${n}`)
  await eventsOfFirst(200)
  await outbox.events(40)
  answers.resolve()
  dispatcher.start()
  await until(async () => (await outbox.queue()).length === 0)
  answers = Promise.withResolvers()
  await eventsOfFirst(1000)
  await until(async () => (await inFlight()).get('wh_0') === 128)
  await outbox.events(16)
  await until(async () => dispatcher.in_flight() >= 256)
  for (const count of [150, 150]) await outbox.events(count)
  answers.resolve()
  let numbers: number[] = []
  await until(async () => {
    const in_flight = await inFlight()
    numbers = [...in_flight.values()]
    const has_backlog = (await outbox.queue()).some(({ webhook_id }) => webhook_id === 'wh_0')
    return !has_backlog || (numbers.length === 9 && Math.min(...numbers) >= 20)
  })
  assert.equal(numbers.length, 9, 'equal only after the backlog')
  assert.ok(Math.max(...numbers) <= 30, String(numbers))
  assert.deepEqual(errors, [])
})
