// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { isoTime, momentOf } from '../../clock.ts'
import { transaction } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { updateWebhook } from '../registration/queries.ts'
import { removeWebhook } from '../registration/removal.ts'
import { type Claim, claimDue, type LoadedClaim, release } from './claim.ts'
import type { AttemptOutcome } from './deliver.ts'
import { claimInterrupted } from './interruptions.ts'
import { queueHeads } from './queue.ts'
import { type Ended, record } from './record.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

const lease_ms = 40_000
const retry_delays = [60, 300, 1800]

/** Claims as a process does: first the deliveries that a crash interrupted. */
const claim = (claim_id: string, webhook_id = 'wh_a', limit = 100, held = new Set<string>()) =>
  transaction(outbox.db, async (tx) => {
    const { workspace_id, clock } = outbox
    const webhooks = [{ workspace_id, webhook_id }]
    const lease = { claim_id, moment: momentOf(clock), lease_ms, fits: () => true, idle: false }
    const { claims } = await claimInterrupted(tx, { ...lease, limit, held })
    return [...claims, ...(await claimDue(tx, { ...lease, webhooks, limit: () => limit }))]
  })

const outcomeOf = (claimed: Claim, status: number): AttemptOutcome => ({
  started_at_ms: outbox.clock.now(),
  duration_ms: 1,
  request: { url: claimed.url, headers: {} },
  response: { status, headers: {}, body: '' },
  error: status === 200 ? null : { code: 'http_error', message: `The answer had the status ${status}.` },
  ok: status === 200,
})

const ended = (claim: Claim, status: number) =>
  transaction(outbox.db, (tx) =>
    record(tx, [{ claim, outcome: outcomeOf(claim, status), ended: momentOf(outbox.clock) }], retry_delays),
  )

test('owners that claim at once never get the same delivery', async () => {
  await outbox.webhook('wh_a')
  await outbox.events(50)
  const claims = await Promise.all(['one', 'two', 'three', 'four'].map((id) => claim(id, 'wh_a', 20)))
  // The number of each owner depends on the order. The next claim gets the rest.
  claims.push(await claim('five', 'wh_a', 50))
  for (const some of claims.slice(0, 4)) assert.ok(some.length <= 20, `${some.length} claimed`)
  const ids = claims.flat().map(({ delivery_id }) => delivery_id)
  assert.deepEqual([ids.length, new Set(ids).size], [50, 50])
})

test('a claim takes the oldest first, and what is due only', async () => {
  await outbox.webhook('wh_a')
  for (let n = 0; n < 3; n++) {
    await outbox.events()
    outbox.clock.advance(1)
  }
  const [first, second, third] = await outbox.deliveries()
  const [oldest] = await claim('one', 'wh_a', 1)
  assert.equal(oldest?.delivery_id, first?.id)
  await ended(oldest as Claim, 500)
  const others = await claim('two')
  assert.deepEqual(
    others.map(({ delivery_id }) => delivery_id),
    [second?.id, third?.id],
  )
  for (const other of others) await ended(other, 200)
  outbox.clock.advance(59_999)
  assert.deepEqual(await claim('three'), [])
  outbox.clock.advance(1)
  const [retry] = await claim('four', 'wh_a', 1)
  assert.deepEqual([retry?.delivery_id, retry?.tries], [first?.id, 1])
})

test('an expired lease makes the delivery due again; its attempt is listed as interrupted and does not count as a try', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  const started = isoTime(outbox.clock.now())
  const [lost] = await claim('lost')
  outbox.clock.advance(lease_ms - 1)
  assert.deepEqual(await claim('early'), [])
  outbox.clock.advance(1)
  const [taken] = await claim('next')
  assert.deepEqual([taken?.delivery_id, taken?.tries], [lost?.delivery_id, 0])
  const [{ attempt_count, attempts } = { attempt_count: -1, attempts: [] }] = await outbox.deliveries()
  assert.equal(attempt_count, 0)
  assert.deepEqual(
    attempts.map(({ number, started_at, duration_ms, error }) => [
      number,
      started_at,
      duration_ms,
      error?.code,
    ]),
    [[1, started, lease_ms, 'interrupted']],
  )
})

test('a late outcome of a lease that another owner took over changes nothing', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  const [stale] = await claim('stale')
  outbox.clock.advance(lease_ms)
  const [owner] = await claim('owner')
  const before = [await outbox.deliveries(), await outbox.queue()]
  await ended(stale as Claim, 200)
  await ended(stale as Claim, 500)
  assert.deepEqual([await outbox.deliveries(), await outbox.queue()], before)
  await ended(owner as Claim, 200)
  await ended(owner as Claim, 200)
  const [{ status, attempt_count } = { status: '', attempt_count: -1 }] = await outbox.deliveries()
  assert.deepEqual([status, attempt_count], ['succeeded', 1])
  assert.deepEqual(await outbox.queue(), [])
})

test('an attempt that this process still makes is not claimed again, however late it is', async () => {
  await outbox.webhook('wh_a')
  await outbox.events(2)
  const [slow, other] = await claim('one')
  outbox.clock.advance(lease_ms)
  const again = await claim('two', 'wh_a', 1, new Set([String(slow?.delivery_id)]))
  assert.deepEqual(
    again.map(({ delivery_id }) => delivery_id),
    [other?.delivery_id],
  )
})

test('a lease that is given back unused leaves no trace', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  const before = [await outbox.deliveries(), await outbox.queue()]
  const [unused] = await claim('unused')
  const giveBack = () =>
    transaction(outbox.db, (tx) => release(tx, [unused as Claim], outbox.clock.now())).then(
      ({ size }) => size,
    )
  assert.equal(await giveBack(), 1)
  assert.deepEqual([await outbox.deliveries(), await outbox.queue()], before)
  await claim('owner')
  assert.equal(await giveBack(), 0, 'it belongs to another owner now')
})

test('the heads of the queue are the webhooks that wait, the one that waits longest first', async () => {
  const { db, clock, workspace_id } = outbox
  const start = clock.now()
  for (const id of ['wh_c', 'wh_a', 'wh_b']) {
    await outbox.webhook(id)
    await outbox.events(3)
    clock.advance(1000)
  }
  await outbox.webhook('wh_idle')
  const heads = async (limit = 10) =>
    (await queueHeads(db, limit)).map(({ webhook_id, run_at_ms }) => [webhook_id, run_at_ms - start])
  assert.deepEqual(await heads(), [
    ['wh_c', 0],
    ['wh_a', 1000],
    ['wh_b', 2000],
  ])
  assert.deepEqual(await heads(1), [['wh_c', 0]])
  await transaction(db, (tx) => updateWebhook(tx, workspace_id, 'wh_c', { status: 'paused' }))
  assert.deepEqual(await heads(1), [['wh_a', 1000]])
  // A claimed delivery waits for the end of its lease.
  await claim('one', 'wh_a')
  assert.deepEqual(await heads(), [
    ['wh_b', 2000],
    ['wh_a', 3000 + lease_ms],
  ])
})

test('a webhook that fails, recovers and is paused meanwhile follows the rules of its status', async () => {
  const { db, workspace_id } = outbox
  await outbox.webhook('wh_a')
  const status = () => db.selectFrom('webhooks').select(['status', 'status_reason']).executeTakeFirst()
  const set = (to: 'paused' | 'active') =>
    transaction(db, (tx) => updateWebhook(tx, workspace_id, 'wh_a', { status: to }))
  const lastTry = async (code: number, meanwhile = async () => {}) => {
    await outbox.events()
    const [one] = await claim('one')
    await meanwhile()
    await ended({ ...(one as Claim), tries: retry_delays.length }, code)
    return (await status())?.status
  }
  assert.equal(await lastTry(500), 'failed')
  assert.match(String((await status())?.status_reason), /after 4 attempts: The answer had the status 500/)
  assert.equal(await lastTry(200), 'active')
  assert.equal((await status())?.status_reason, null)
  assert.equal(await lastTry(500, () => set('paused')), 'paused')
  await set('active')
  assert.equal(await lastTry(500), 'failed')
  assert.equal(await lastTry(200, () => set('paused')), 'paused')
})

test('outcomes that are written together mean what they mean one by one', async () => {
  const { db, workspace_id } = outbox
  for (const id of ['wh_a', 'wh_b', 'wh_c']) await outbox.webhook(id)
  await outbox.events(3)
  const claims = [...(await claim('a', 'wh_a')), ...(await claim('b', 'wh_b')), ...(await claim('c', 'wh_c'))]
  const of = (webhook_id: string) => claims.filter((one) => one.webhook_id === webhook_id)
  const last = { tries: retry_delays.length }
  const outcome = (one: Claim, status: number): Ended => ({
    claim: one,
    outcome: outcomeOf(one, status),
    ended: momentOf(outbox.clock),
  })
  const [a1, a2, a3] = of('wh_a') as [LoadedClaim, LoadedClaim, LoadedClaim]
  const [b1, b2, b3] = of('wh_b') as [LoadedClaim, LoadedClaim, LoadedClaim]
  const [c1, c2] = of('wh_c') as [LoadedClaim, LoadedClaim]
  await transaction(db, (tx) => removeWebhook(tx, outbox.context(), 'wh_c'))
  const batch = [
    outcome({ ...a1, ...last }, 500),
    outcome(a2, 200),
    outcome({ ...b1, ...last }, 500),
    outcome({ ...b2, ...last }, 503),
    outcome(b3, 404),
    outcome(c1, 200),
    // A lease that was lost, and the same outcome a second time.
    outcome({ ...a3, claim_id: 'another' }, 200),
    outcome(a2, 200),
  ]
  await transaction(db, (tx) => record(tx, batch, retry_delays))
  const log = new Map((await outbox.deliveries()).map((one) => [one.id, one]))
  const seen = [a1, a2, a3, b1, b2, b3, c1, c2].map(({ delivery_id }) => {
    const one = log.get(delivery_id)
    return [one?.status, one?.attempt_count, one?.attempts.length, one?.next_attempt_at != null]
  })
  assert.deepEqual(seen, [
    ['failed', 1, 1, false],
    ['succeeded', 1, 1, false],
    ['pending', 0, 0, true],
    ['failed', 1, 1, false],
    ['failed', 1, 1, false],
    ['pending', 1, 1, true],
    ['cancelled', 1, 1, false],
    ['cancelled', 0, 0, false],
  ])
  const webhooks = await db
    .selectFrom('webhooks')
    .select(['id', 'status', 'status_reason'])
    .orderBy('id')
    .execute()
  assert.deepEqual(
    webhooks.map(({ id, status, status_reason }) => [
      id,
      status,
      status_reason?.includes(b1.delivery_id) ?? null,
    ]),
    [
      ['wh_a', 'active', null],
      ['wh_b', 'failed', true],
    ],
    'the first failure of the last ones is the reason',
  )
  const left = (await outbox.queue()).map(({ delivery_id, tries, claim_id }) => [
    delivery_id,
    tries,
    claim_id,
  ])
  assert.deepEqual(
    left.sort(),
    [[a3.delivery_id, 0, 'a'] as const, [b3.delivery_id, 1, null] as const].sort(),
  )
  const counts = ['pending', 'succeeded', 'failed', 'cancelled'].map((status) =>
    countOf(db, workspace_id, `deliveries.status=${status}`),
  )
  assert.deepEqual(await Promise.all(counts), [2, 1, 3, 3])
})

test('an answer is kept as it came, but for what no database stores', async () => {
  await outbox.webhook('wh_a')
  await outbox.events()
  const [one] = await claim('one')
  const answer = { status: 500, headers: { 'x-odd': '"\0\\ é' }, body: 'a\0b "quoted"\n\u2028🎉' }
  const error = { code: 'http_error' as const, message: 'no\0' }
  const outcome = { ...outcomeOf(one as Claim, 500), response: answer, error }
  const ended = momentOf(outbox.clock)
  await transaction(outbox.db, (tx) => record(tx, [{ claim: one as Claim, outcome, ended }], retry_delays))
  const [attempt] = (await outbox.deliveries()).flatMap(({ attempts }) => attempts)
  assert.deepEqual(attempt?.response, {
    status: 500,
    headers: { 'x-odd': '"\ufffd\\ é' },
    body: 'a\ufffdb "quoted"\n\u2028🎉',
  })
  assert.equal(attempt?.error?.message, 'no\ufffd')
})
