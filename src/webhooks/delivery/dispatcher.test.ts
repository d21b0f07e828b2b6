// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { type Database, transaction } from '../../db/db.ts'
import { Unreachable } from '../../db/errors.ts'
import type { Tracer } from '../../telemetry/tracer.ts'
import { updateWebhook } from '../registration/queries.ts'
import { removeWebhook } from '../registration/removal.ts'
import type { AttemptOutcome, Sender, SendRequest } from './deliver.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'

let outbox: Outbox
let dispatcher: Dispatcher
let errors: Error[]
/** The sent requests. A sender whose start is refused sends nothing. */
let sent: SendRequest[]
/** The ended spans: the error of each, undefined for a success. */
let spans: (string | undefined)[]
/** Lets a waiting attempt go on. */
let connected: PromiseWithResolvers<void>
let answered: PromiseWithResolvers<void>
beforeEach(async () => {
  outbox = await openOutbox()
  ;[errors, sent, spans] = [[], [], []]
  connected = Promise.withResolvers()
  answered = Promise.withResolvers()
})
afterEach(async () => {
  connected.resolve()
  answered.resolve()
  await dispatcher.stop(1000)
  await outbox.close()
})

const sender: Sender = {
  async send(request) {
    await connected.promise
    await pause(1)
    const outcome = (ok: boolean): AttemptOutcome => ({
      started_at_ms: 0,
      duration_ms: 1,
      request: { url: request.url, headers: request.headers },
      response: ok ? { status: 200, headers: {}, body: '' } : null,
      error: ok ? null : { code: 'protocol_error', message: 'Refused to start.' },
      ok,
    })
    if (request.mayStart?.() === false) return outcome(false)
    sent.push(request)
    await answered.promise
    return outcome(true)
  },
  async close() {},
}

const tracer: Tracer = {
  start: (_kind, parent) => ({
    traceparent: String(parent),
    end: (_name, _attributes, error) => void spans.push(error),
  }),
  dropped: () => 0,
  async close() {},
}

function begin(database: Database = outbox.database, using = sender) {
  const { clock, seal } = outbox
  const onError = (error: unknown) => void errors.push(error as Error)
  const retry_delays = [60, 300, 1800]
  dispatcher = createDispatcher({
    database,
    clock,
    seal,
    sender: using,
    retry_delays,
    timeout_ms: 10_000,
    tracer,
    onError,
  })
  dispatcher.start()
}

async function until(holds: () => boolean | Promise<boolean>) {
  const deadline = performance.now() + 60_000
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, `never: ${holds}`)
    await pause(2)
  }
}
const statuses = async () => (await outbox.deliveries()).map(({ status }) => status)

/**
 * The timer of the poll never fires from now on. Resolves when the dispatcher waits for it. Timers of others, such as those
 * of idle connections, are left alone.
 */
function withoutPoll(t: TestContext): Promise<void> {
  const poll_ms = 1000
  const never_ms = 2 ** 31 - 1
  const { setTimeout: startTimer } = globalThis
  return new Promise((rests) => {
    const timerOf = (work: () => void, ms: number) => {
      if (ms < poll_ms || work.name !== 'wake') return startTimer(work, ms)
      rests()
      return startTimer(work, never_ms)
    }
    t.mock.method(globalThis, 'setTimeout', timerOf as typeof setTimeout)
  })
}

test('a commit with an event wakes the dispatcher', async (t) => {
  await outbox.webhook('wh_a')
  const rests = withoutPoll(t)
  begin()
  connected.resolve()
  answered.resolve()
  await rests
  await outbox.events(10)
  await until(async () => (await statuses()).every((status) => status === 'succeeded'))
  assert.deepEqual([sent.length, await outbox.queue(), errors], [10, [], []])
})

test('what another process wrote is found by the poll', async () => {
  await outbox.webhook('wh_a')
  begin({ ...outbox.database, onCommit: () => {} })
  connected.resolve()
  answered.resolve()
  await pause(20)
  await outbox.events()
  await until(async () => (await statuses())[0] === 'succeeded')
})

test('after a webhook is deleted nothing that waits for its connection is sent', async () => {
  const { db } = outbox
  await outbox.webhook('wh_a')
  await outbox.webhook('wh_b')
  await outbox.events(3)
  begin()
  await until(() => dispatcher.in_flight() === 6)
  await transaction(db, async (tx) => {
    await removeWebhook(tx, outbox.context(), 'wh_a')
    dispatcher.holdBack('wh_a', 'all')
  })
  connected.resolve()
  answered.resolve()
  await until(async () => (await statuses()).every((status) => status !== 'pending'))
  await until(() => dispatcher.in_flight() === 0)
  assert.deepEqual(new Set(sent.map(({ url }) => url)), new Set(['http://127.0.0.1:9/wh_b']))
  assert.deepEqual(spans, [undefined, undefined, undefined])
  for (const { webhook_id, status, attempts } of await outbox.deliveries())
    assert.deepEqual([status, attempts.length], webhook_id === 'wh_a' ? ['cancelled', 0] : ['succeeded', 1])
})

test('a claim that is committed together with the deletion of its webhook is not sent', async () => {
  const { db } = outbox
  // Woken by hand: the deletion is to come at every point of the claim's way to the same commit.
  begin({ ...outbox.database, onCommit: () => {} })
  connected.resolve()
  answered.resolve()
  for (let turns = 0; turns < 60; turns++) {
    const id = `wh_${turns}`
    await outbox.webhook(id)
    await outbox.events()
    dispatcher.wake()
    for (let n = 0; n < turns; n++) await Promise.resolve()
    await transaction(db, async (tx) => {
      await removeWebhook(tx, outbox.context(), id)
      dispatcher.holdBack(id, 'all')
    })
    const sentTo = () => sent.filter(({ url }) => url.endsWith(`/${id}`)).length
    const before = sentTo()
    await until(() => dispatcher.in_flight() === 0)
    await pause(3)
    assert.equal(sentTo(), before, `after ${turns} turns`)
  }
})

test('a deletion that is rolled back costs nothing: what was held back is sent', async () => {
  const { db } = outbox
  await outbox.webhook('wh_a')
  await outbox.events(3)
  begin()
  await until(() => dispatcher.in_flight() === 3)
  const failing = transaction(db, async (tx) => {
    await removeWebhook(tx, outbox.context(), 'wh_a')
    dispatcher.holdBack('wh_a', 'all')
    throw new Error('the disk is full')
  })
  await assert.rejects(failing, /disk is full/)
  connected.resolve()
  answered.resolve()
  await until(async () => (await statuses()).every((status) => status === 'succeeded'))
  for (const { attempts } of await outbox.deliveries()) assert.equal(attempts.length, 1)
})

test('a stop lets attempts in flight end, and claims nothing', async () => {
  await outbox.webhook('wh_a')
  await outbox.events(10)
  begin()
  connected.resolve()
  await until(() => sent.length === 4)
  const stopped = dispatcher.stop(5000)
  await outbox.events()
  dispatcher.wake()
  await pause(20)
  answered.resolve()
  await stopped
  assert.equal(sent.length, 4)
  const done = await statuses()
  assert.deepEqual(
    [done.filter((one) => one === 'succeeded').length, done.filter((one) => one === 'pending').length],
    [4, 7],
  )
  for (const { claim_id } of await outbox.queue()) assert.equal(claim_id, null)
})

test('a stop in the middle of a claim gives it back unused', async () => {
  await outbox.webhook('wh_a')
  await outbox.events(4)
  begin()
  // As far as the claim's transaction.
  for (let n = 0; n < 10; n++) await Promise.resolve()
  await dispatcher.stop(5000)
  assert.deepEqual([sent.length, dispatcher.in_flight()], [0, 0])
  for (const { claim_id, run_at_ms } of await outbox.queue())
    assert.deepEqual([claim_id, run_at_ms], [null, outbox.clock.now()])
  for (const { attempts, attempt_count } of await outbox.deliveries())
    assert.deepEqual([attempts, attempt_count], [[], 0])
})

test('after a stop the database can be closed: nothing is under way', async () => {
  await outbox.webhook('wh_a')
  await outbox.events(4)
  begin()
  for (let n = 0; n < 10; n++) await Promise.resolve()
  await dispatcher.stop(5000)
  await outbox.closeDatabase()
  await pause(30)
  assert.deepEqual(errors, [])
})

test('what a stop cannot wait for is listed as interrupted, is due at once, and its outcome comes too late', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  begin()
  connected.resolve()
  await until(() => sent.length === 1)
  outbox.clock.advance(3000)
  const before = performance.now()
  await dispatcher.stop(50)
  assert.equal(dispatcher.in_flight(), 1, 'the stop did not wait for the answer')
  assert.ok(performance.now() - before < 5000, 'the stop did not wait for the timeout of the attempt')
  const after = [await outbox.deliveries(), await outbox.queue()] as const
  const [[one], [waiting]] = after
  assert.deepEqual([one?.status, one?.attempt_count], ['pending', 0])
  assert.deepEqual(
    one?.attempts.map(({ duration_ms, error }) => [duration_ms, error?.code]),
    [[3000, 'interrupted']],
  )
  assert.deepEqual([waiting?.claim_id, waiting?.run_at_ms, waiting?.tries], [null, outbox.clock.now(), 0])
  answered.resolve()
  await until(() => dispatcher.in_flight() === 0)
  assert.deepEqual([await outbox.deliveries(), await outbox.queue()], after)
  assert.deepEqual(errors, [])
})

test('a delivery that cannot be built fails alone, and stops no other', async () => {
  await outbox.webhook('wh_broken', { secret: 'not what the seal made' })
  await outbox.webhook('wh_good')
  begin()
  connected.resolve()
  answered.resolve()
  await outbox.events()
  await until(async () => (await outbox.deliveries()).every(({ attempt_count }) => attempt_count === 1))
  const [broken, good] = (await outbox.deliveries()).sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1))
  assert.deepEqual([broken?.status, broken?.attempts[0]?.error?.code], ['pending', 'protocol_error'])
  assert.equal(good?.status, 'succeeded')
  assert.equal(errors.length, 1)
  assert.deepEqual(new Set(spans), new Set(['protocol_error', undefined]))
  assert.equal(spans.length, 2)
})

test('an outcome is stored when the database is available again', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  let away = false
  // Every transaction fails while the database is away.
  const db = new Proxy(outbox.db, {
    get(target, name) {
      if (name === 'transaction' && away) throw new Unreachable('the database is away')
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  begin({ ...outbox.database, db })
  connected.resolve()
  await until(() => sent.length === 1)
  away = true
  answered.resolve()
  await until(() => errors.length === 2)
  away = false
  await until(async () => (await statuses())[0] === 'succeeded')
  assert.equal(sent.length, 1)
})

test('an outcome that the database refuses stops no other, and is stored as an attempt without its answer', async () => {
  await outbox.webhook('wh_odd')
  await outbox.webhook('wh_good')
  await outbox.events(3)
  const odd: Sender = {
    ...sender,
    async send(request) {
      const outcome = await sender.send(request)
      return request.url.endsWith('odd')
        ? { ...outcome, request: { ...outcome.request, url: null as never } }
        : outcome
    },
  }
  begin(outbox.database, odd)
  connected.resolve()
  answered.resolve()
  await until(async () => (await statuses()).every((status) => status === 'succeeded'))
  for (const { attempts, webhook_id } of await outbox.deliveries())
    assert.deepEqual(
      attempts.map(({ number, request, response }) => [
        number,
        request.url.endsWith(webhook_id),
        response?.status,
      ]),
      [[1, true, 200]],
    )
  assert.equal(sent.length, 6)
  assert.ok(errors.length > 0)
})

test('what waits for its connection until too little of its lease is left is not sent on that lease', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  begin()
  await until(() => dispatcher.in_flight() === 1)
  // Of 40 seconds; an attempt takes 10, and its writing down must fit in too.
  outbox.clock.advance(26_000)
  connected.resolve()
  await until(() => sent.length === 1)
  const [claimed] = await outbox.queue()
  assert.equal(claimed?.claimed_at_ms, outbox.clock.now(), 'it was given back and claimed again')
  answered.resolve()
  await until(async () => (await statuses())[0] === 'succeeded')
  assert.deepEqual(
    (await outbox.deliveries()).map(({ attempts }) => attempts.length),
    [1],
  )
})

test('two dispatchers on one database send each delivery once', async () => {
  for (const id of ['wh_a', 'wh_b', 'wh_c']) await outbox.webhook(id)
  await outbox.events(100)
  begin()
  const first = dispatcher
  begin()
  connected.resolve()
  answered.resolve()
  await until(async () => (await outbox.queue()).length === 0)
  await first.stop(1000)
  const ids = sent.map(({ headers }) => headers['X-Service-Delivery'])
  assert.deepEqual([ids.length, new Set(ids).size, errors], [300, 300, []])
  for (const { status, attempts } of await outbox.deliveries())
    assert.deepEqual([status, attempts.length], ['succeeded', 1])
})

test('what waits for its connection is not sent when another process has paused or deleted its webhook', async (t) => {
  const { db, workspace_id } = outbox
  for (const id of ['wh_paused', 'wh_deleted', 'wh_good']) await outbox.webhook(id)
  await outbox.events(2)
  begin()
  await until(() => dispatcher.in_flight() === 6)
  await transaction(db, async (tx) => {
    await updateWebhook(tx, workspace_id, 'wh_paused', { status: 'paused' })
    await removeWebhook(tx, outbox.context(), 'wh_deleted')
  })
  await pause(5)
  const rests = withoutPoll(t)
  dispatcher.wake()
  await rests
  connected.resolve()
  answered.resolve()
  await until(() => dispatcher.in_flight() === 0)
  assert.deepEqual(new Set(sent.map(({ url }) => url)), new Set(['http://127.0.0.1:9/wh_good']))
  assert.deepEqual(
    (await outbox.queue()).map(({ claim_id }) => claim_id),
    [null, null],
  )
})
