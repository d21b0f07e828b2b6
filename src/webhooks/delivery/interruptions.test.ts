// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../../db/db.ts'
import { Unreachable } from '../../db/errors.ts'
import { resend } from '../log/resends.ts'
import type { AttemptOutcome, SendRequest } from './deliver.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'

const timeout_ms = 10_000
const lease_ms = timeout_ms + 30_000

let outbox: Outbox
let owners: { dispatcher: Dispatcher }[]
beforeEach(async () => {
  outbox = await openOutbox()
  owners = []
})
afterEach(async () => {
  for (const { dispatcher } of owners) await dispatcher.stop(0)
  await outbox.close()
})

type Answer = 'succeed' | 'fail' | 'hang' | 'end the process'

/** A process that delivers. After its end, it writes nothing to the database. */
function begin(answerTo: (request: SendRequest) => Answer) {
  let gone = false
  const refuse = () => {
    throw new Unreachable('this process is gone')
  }
  const db = new Proxy(outbox.db, {
    get(target, name) {
      if (gone) refuse()
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const counts = { now: 0, most: 0 }
  const sent: string[] = []
  const sender = {
    async send(request: SendRequest): Promise<AttemptOutcome> {
      request.mayStart?.()
      const { url, headers } = request
      sent.push(String(headers['X-Service-Delivery']))
      counts.most = Math.max(counts.most, ++counts.now)
      const answer = answerTo(request)
      if (answer === 'end the process') gone = true
      if (gone || answer === 'hang') return new Promise(() => {})
      await pause(2)
      counts.now--
      const ok = answer === 'succeed'
      const response = { status: ok ? 200 : 500, headers: {}, body: '' }
      const error = ok ? null : { code: 'http_error' as const, message: 'The answer had the status 500.' }
      return { started_at_ms: 0, duration_ms: 1, request: { url, headers }, response, error, ok }
    },
    async close() {},
  }
  const { clock, seal } = outbox
  const database = { ...outbox.database, db, onCommit: () => {} }
  const options = { database, clock, seal, sender, retry_delays: [60], timeout_ms, onError: () => {} }
  const dispatcher = createDispatcher(options)
  dispatcher.start()
  const owner = {
    dispatcher,
    counts,
    sent,
    gone: () => gone,
    crash() {
      gone = true
    },
  }
  owners.push(owner)
  return owner
}

async function until(holds: () => boolean | Promise<boolean>) {
  const deadline = performance.now() + 60_000
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `never: ${holds}`)
    await pause(2)
  }
}
const status = async (webhook_id: string) =>
  outbox.db
    .selectFrom('webhooks')
    .select(['status', 'status_reason'])
    .where('id', '=', webhook_id)
    .executeTakeFirstOrThrow()
const log = async (webhook_id: string) =>
  (await outbox.deliveries()).filter((one) => one.webhook_id === webhook_id)

/** Processes after each other until one does not end; returns how many ended. */
async function restartUntilItLives(answerTo: (request: SendRequest) => Answer): Promise<number> {
  for (let ended = 0; ; ended++) {
    const owner = begin(answerTo)
    await until(async () => owner.gone() || (await outbox.queue()).length === 0)
    if (!owner.gone()) return ended
    assert.ok(ended < 20, 'it ends again and again')
    outbox.clock.advance(lease_ms)
  }
}

test('after a crash, one attempt is in flight at a time until all interrupted ones were tried, then more', async () => {
  for (const id of ['wh_a', 'wh_b']) await outbox.webhook(id)
  await outbox.events(20)
  const before = begin(() => 'hang')
  await until(() => before.sent.length === 8)
  before.crash()
  outbox.clock.advance(lease_ms)
  let together = 0
  const after = begin(() => {
    if (after.sent.length <= 8) together = Math.max(together, after.counts.now)
    return 'succeed'
  })
  await until(async () => (await outbox.queue()).length === 0)
  assert.equal(together, 1, 'those that the crash interrupted come first, one by one')
  assert.deepEqual(after.sent.slice(0, 8).sort(), before.sent.sort())
  assert.ok(after.counts.most > 1, 'it widens')
  for (const { id, status, attempt_count, attempts } of await outbox.deliveries()) {
    assert.deepEqual([status, attempt_count], ['succeeded', 1])
    const codes = attempts.map(({ error }) => error?.code)
    assert.deepEqual(codes, before.sent.includes(id) ? ['interrupted', undefined] : [undefined])
  }
})

test('a delivery that ends the process five times alone in flight is failed, and others are delivered', async () => {
  for (const id of ['wh_a', 'wh_b', 'wh_poison']) await outbox.webhook(id)
  await outbox.events(1)
  const poison = (await log('wh_poison'))[0]?.id
  await outbox.events(3)
  const isPoison = ({ headers }: SendRequest) => headers['X-Service-Delivery'] === poison
  const crashes = await restartUntilItLives((request) => (isPoison(request) ? 'end the process' : 'succeed'))
  assert.equal(crashes, 6, 'once among others, then five times alone')
  for (const { id, status, attempt_count } of await outbox.deliveries())
    assert.deepEqual([status, attempt_count], id === poison ? ['failed', 0] : ['succeeded', 1])
  const [failed] = (await log('wh_poison')).filter(({ id }) => id === poison)
  assert.deepEqual(
    failed?.attempts.map(({ number, error }) => [number, error?.code]),
    [1, 2, 3, 4, 5, 6].map((number) => [number, 'interrupted']),
  )
  assert.match(String(failed?.attempts.at(-1)?.error?.message), /does not retry the delivery/)
  assert.ok(failed?.finished_at)
})

test('five crashes with one delivery alone in flight fail it, and with it the webhook, which says why', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  assert.equal(await restartUntilItLives(() => 'end the process'), 5)
  const [one] = await log('wh_a')
  assert.deepEqual([one?.status, one?.attempt_count, one?.attempts.length], ['failed', 0, 5])
  const { status: now, status_reason } = await status('wh_a')
  assert.equal(now, 'failed')
  assert.match(String(status_reason), new RegExp(`^The delivery ${one?.id} failed: The service stopped`))
})

test('a resend that ends the process five times is failed, and says nothing about the webhook', async () => {
  const { db, workspace_id, context } = outbox
  await outbox.webhook('wh_a')
  await outbox.events()
  begin(() => 'succeed')
  await until(async () => (await outbox.queue()).length === 0)
  await owners[0]?.dispatcher.stop(1000)
  const [{ id } = { id: '' }] = await log('wh_a')
  const { now, elapsed } = context()
  await transaction(db, (tx) =>
    resend(tx, workspace_id, { now, elapsed_ms: elapsed() }, [String(id)], ['succeeded', 'failed']),
  )
  assert.equal(await restartUntilItLives(() => 'end the process'), 5)
  const [one] = await log('wh_a')
  assert.deepEqual([one?.status, one?.attempt_count, one?.attempts.length], ['failed', 1, 6])
  assert.equal((await status('wh_a')).status, 'active')
})

test('stops that interrupt attempts do not count, and neither do outcomes', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  for (let n = 0; n < 7; n++) {
    const owner = begin(() => 'hang')
    await until(() => owner.sent.length === 1)
    await owner.dispatcher.stop(0)
  }
  const [one] = await outbox.queue()
  assert.deepEqual([one?.interruptions, one?.claim_id], [0, null])
  // Three crashes, and then an attempt that ends: its next attempts begin at zero.
  for (let n = 0; n < 3; n++) {
    const owner = begin(() => 'end the process')
    await until(() => owner.gone())
    outbox.clock.advance(lease_ms)
  }
  assert.equal((await outbox.queue())[0]?.interruptions, 3)
  begin(() => 'fail')
  await until(async () => (await log('wh_a'))[0]?.attempt_count === 1)
  assert.deepEqual(
    (await outbox.queue()).map(({ interruptions, tries }) => [interruptions, tries]),
    [[0, 1]],
  )
})
