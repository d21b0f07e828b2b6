import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { storedOptions } from '../registration/options.ts'
import { updateWebhook } from '../registration/queries.ts'
import { createPacing } from './pace.ts'
import { queueHeads } from './queue.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
  await outbox.webhook('wh_a')
  await outbox.events(1)
})
afterEach(() => outbox.close())

const limit = (max_per_second: number | null) =>
  transaction(outbox.db, (tx) =>
    updateWebhook(tx, outbox.workspace_id, 'wh_a', storedOptions({ max_per_second }, outbox.seal)),
  )

/** Starts as many as are wanted and free, and tells how many. */
const start = (wanted: number) =>
  transaction(outbox.db, async (tx) => {
    const { workspace_id, clock } = outbox
    const pacing = createPacing(tx, clock.elapsed())
    const free = Math.min(wanted, await pacing.free({ workspace_id, webhook_id: 'wh_a' }))
    pacing.store(Array.from({ length: free }, () => ({ webhook_id: 'wh_a' })))
    return free
  })

const dueIn = async () => {
  const [head] = await queueHeads(outbox.db, 10)
  return Number(head?.run_at_ms) - outbox.clock.elapsed()
}

test('no second has more starts than the limit, however they are spread', async () => {
  await limit(10)
  const starts: number[] = []
  for (let step = 0; step < 400; step++) {
    const wanted = [0, 1, 3, 20][step % 4] as number
    for (let n = await start(wanted); n > 0; n--) starts.push(outbox.clock.elapsed())
    outbox.clock.advance([7, 43, 120, 1][(step * 7) % 4] as number)
  }
  const in_second = starts.map((at) => starts.filter((other) => other >= at && other < at + 1000).length)
  assert.equal(Math.max(...in_second), 10)
  const seconds = ((starts.at(-1) ?? 0) - (starts[0] ?? 0)) / 1000
  assert.ok(starts.length / seconds > 8, `${starts.length} in ${seconds} s`)
})

test('a webhook at its limit is due when the next delivery may start', async () => {
  await limit(2)
  assert.equal(await start(5), 2)
  assert.equal(await dueIn(), 1100)
  outbox.clock.advance(1099)
  assert.equal(await start(5), 0)
  outbox.clock.advance(1)
  assert.deepEqual([(await dueIn()) <= 0, await start(1)], [true, 1])
})

test('a new limit counts at once, and without one nothing waits', async () => {
  await limit(1)
  assert.equal(await start(5), 1)
  await limit(3)
  assert.ok((await dueIn()) <= 0)
  assert.equal(await start(5), 2)
  await limit(null)
  assert.deepEqual([(await dueIn()) <= 0, await start(5)], [true, 5])
})
