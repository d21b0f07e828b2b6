// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCapacity } from './capacity.ts'
import type { AttemptOutcome } from './deliver.ts'

type Capacity = ReturnType<typeof createCapacity>

const outcome = (status: number | null, duration_ms = 300): AttemptOutcome => ({
  started_at_ms: 0,
  duration_ms,
  request: { url: '', headers: {} },
  response: status === null ? null : { status, headers: {}, body: '' },
  error: null,
  ok: status === 200,
})

/** One attempt after the other, each with this status; null: no answer. */
function attempts(capacity: Capacity, webhook_id: string, ...statuses: (number | null)[]) {
  for (const status of statuses) {
    capacity.acquire(webhook_id)
    capacity.release(webhook_id, outcome(status))
  }
  return capacity.free(webhook_id)
}

function quickSuccess(capacity: Capacity, webhook_id: string) {
  capacity.acquire(webhook_id)
  capacity.release(webhook_id, outcome(200, 1))
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

test('a webhook starts with four at once and gets one more with each success, up to 32', () => {
  const capacity = createCapacity()
  assert.equal(capacity.free('a'), 4)
  assert.equal(attempts(capacity, 'a', 200), 5)
  assert.equal(attempts(capacity, 'a', ...times(40, 200)), 32)
  assert.equal(capacity.free('b'), 4)
})

test('one that answers within a quarter of a second gets up to 128, while a quarter of all places is enough', () => {
  const capacity = createCapacity()
  const answer = (duration_ms: number) => {
    capacity.acquire('a')
    capacity.release('a', outcome(200, duration_ms))
    return capacity.free('a')
  }
  for (let n = 0; n < 200; n++) answer(250)
  assert.equal(capacity.free('a'), 128)
  for (let n = 0; n < 127; n++) capacity.acquire(`other ${n}`)
  assert.equal(capacity.free('a'), 128)
  capacity.acquire('other')
  assert.equal(capacity.free('a'), 32)
  assert.equal(answer(251), 32)
  for (let n = 0; n < 127; n++) capacity.release(`other ${n}`, null)
  assert.equal(capacity.free('a'), 32, 'no longer quick')
})

test('no answer, a server error or a 429 halves it; another refusal does not', () => {
  for (const [status, left] of [
    [null, 8],
    [500, 8],
    [503, 8],
    [429, 8],
    [404, 16],
    [301, 16],
  ] as const) {
    const capacity = createCapacity()
    attempts(capacity, 'a', ...times(12, 200))
    assert.equal(attempts(capacity, 'a', status), left, String(status))
  }
})

test('after three failures in a row without an answer a webhook is tried one by one, until a success', () => {
  const capacity = createCapacity()
  attempts(capacity, 'a', ...times(20, 200))
  assert.equal(attempts(capacity, 'a', null, null, null), 1)
  capacity.acquire('a')
  assert.equal(capacity.free('a'), 0)
  capacity.release('a', outcome(null))
  assert.equal(capacity.free('a'), 1)
  assert.equal(attempts(capacity, 'a', 200), 2)
})

test('a receiver that refuses requests keeps at least four at once; one that refuses load does not', () => {
  const refused = (...statuses: (number | null)[]) => {
    const capacity = createCapacity()
    attempts(capacity, 'a', ...times(20, 200))
    return attempts(capacity, 'a', ...statuses)
  }
  assert.equal(refused(...times(10, 500)), 4)
  assert.equal(refused(...times(10, 404)), 4)
  for (const status of [null, 429, 502, 503, 504]) assert.equal(refused(...times(10, status)), 1, `${status}`)
  assert.equal(refused(null, null, null, 500), 4, 'it answers again')
})

test('a webhook whose attempts fail has one more slot for its newest delivery, until an older one succeeds', () => {
  const capacity = createCapacity(() => 0)
  const newest = () => capacity.freeForNewest({ webhook_id: 'a' })
  attempts(capacity, 'a', 500, 500)
  assert.equal(newest(), 0)
  attempts(capacity, 'a', 500)
  assert.equal(newest(), 1)
  const free = capacity.free('a')
  capacity.acquire('a', 0, true)
  assert.deepEqual([capacity.free('a'), newest()], [free, 0], 'a slot of its own')
  capacity.release('a', outcome(200), 0, true)
  assert.equal(newest(), 1, 'a success of the newest says nothing about the oldest')
  attempts(capacity, 'a', 200)
  assert.equal(newest(), 0)
})

test('a webhook whose attempts neither start nor end for half a second has a slot for its newest delivery, too', () => {
  let now_ms = 0
  const capacity = createCapacity(() => now_ms)
  const newest = () => capacity.freeForNewest({ webhook_id: 'a' })
  for (let n = 0; n < 4; n++) capacity.acquire('a')
  now_ms = 499
  assert.equal(newest(), 0)
  const started: number[] = []
  for (now_ms = 500; now_ms < 10_000; now_ms += 100)
    if (newest()) {
      capacity.acquire('a', 0, true)
      started.push(now_ms)
    }
  assert.deepEqual(started, [500, 1000, 1500, 2000], 'a slow one is joined by another one, up to four')
})

test('with max_per_second, the newest delivery uses one start in two seconds', () => {
  let now_ms = 0
  const capacity = createCapacity(() => now_ms)
  const newest = () => capacity.freeForNewest({ webhook_id: 'a', max_per_second: 1 })
  attempts(capacity, 'a', 500, 500, 500)
  assert.equal(newest(), 1)
  capacity.acquire('a', 0, true)
  capacity.release('a', outcome(500), 0, true)
  now_ms = 1999
  assert.equal(newest(), 0)
  now_ms = 2000
  assert.equal(newest(), 1)
})

test('slots for the newest never take the second half of all slots, and only first ones the second quarter', () => {
  const capacity = createCapacity(() => 0)
  const newest = (webhook_id: string) => capacity.freeForNewest({ webhook_id })
  for (const id of ['a', 'b']) attempts(capacity, id, 500, 500, 500)
  for (let n = 0; n < 128; n++) capacity.acquire(`other ${n}`)
  assert.equal(newest('a'), 1)
  capacity.acquire('a', 0, true)
  assert.deepEqual([newest('a'), newest('b')], [0, 1])
  for (let n = 0; n < 127; n++) capacity.acquire(`another ${n}`)
  assert.equal(newest('b'), 0)
})

test('two or more webhooks that answer share half of all places equally, and others do not count', () => {
  const capacity = createCapacity()
  const names = (count: number) => Array.from({ length: count }, (_, n) => ({ webhook_id: `good ${n}` }))
  for (const { webhook_id } of names(100)) for (let n = 0; n < 200; n++) quickSuccess(capacity, webhook_id)
  attempts(capacity, 'bad', null, null, null)
  const others = [{ webhook_id: 'bad' }, { webhook_id: 'new' }]
  const shares = [0, 1, 2, 4, 8, 10, 20, 100].map((count) => {
    capacity.shareAmong([...names(count), ...others])
    return capacity.free('good 0')
  })
  assert.deepEqual(shares, [128, 128, 128, 64, 32, 25, 12, 4])
  assert.deepEqual([capacity.free('bad'), capacity.free('new')], [1, 4])
  for (let n = 0; n < 4; n++) capacity.acquire('good 0')
  assert.deepEqual([capacity.free('good 0'), capacity.free('good 1')], [0, 4])
  assert.deepEqual([capacity.excess('good 0'), capacity.excess('good 1')], [0, 0])
  capacity.acquire('good 0')
  assert.deepEqual([capacity.free('good 0'), capacity.excess('good 0')], [0, 1])
})

test('two webhooks that answer quickly get 128 places each', () => {
  const capacity = createCapacity()
  for (const webhook_id of ['a', 'b']) for (let n = 0; n < 200; n++) quickSuccess(capacity, webhook_id)
  for (let n = 0; n < 128; n++) capacity.acquire('a')
  assert.equal(capacity.free('b'), 32, 'the other has nothing due')
  capacity.shareAmong([{ webhook_id: 'a' }, { webhook_id: 'b' }])
  assert.deepEqual([capacity.free('a'), capacity.free('b')], [0, 128])
})

test('the places of webhooks that succeed are refilled without a poll, while at most half are taken', () => {
  const capacity = createCapacity()
  for (let n = 0; n < 256; n++) capacity.acquire('a')
  assert.equal(capacity.crowded(), false)
  capacity.acquire('b')
  assert.equal(capacity.crowded(), true)
})

test('an attempt without an outcome gives its place back and teaches nothing', () => {
  const capacity = createCapacity()
  capacity.acquire('a')
  assert.equal(capacity.free('a'), 3)
  capacity.release('a', null)
  assert.equal(capacity.free('a'), 4)
})

test('endpoints that do not answer never take the second half of all places', () => {
  const capacity = createCapacity()
  attempts(capacity, 'good', ...times(20, 200))
  attempts(capacity, 'bad', null, null, null)
  for (let n = 0; n < 64; n++) for (let place = 0; place < 4; place++) capacity.acquire(`hangs ${n}`)
  assert.equal(capacity.free('hangs 0'), 0)
  assert.equal(capacity.free('bad'), 0, 'a dead one waits')
  assert.equal(capacity.free('new'), 1, 'an unknown one is tried')
  assert.equal(capacity.free('good'), 4, 'one that answers goes on')
  assert.equal(capacity.full(), 65)
  capacity.release('hangs 0', null)
  assert.equal(capacity.free('bad'), 1)
})

test('all webhooks together never have more than 512 in flight', () => {
  const capacity = createCapacity()
  let taken = 0
  for (let n = 0; n < 1000; n++) {
    attempts(capacity, `${n}`, ...times(10, 200))
    while (capacity.free(`${n}`) > 0) {
      capacity.acquire(`${n}`)
      taken++
    }
  }
  assert.equal(taken, 512)
  assert.equal(capacity.free('another'), 0)
  assert.equal(capacity.full() > 0, true)
})

test('places that are promised in the same round count as taken', () => {
  const capacity = createCapacity()
  assert.equal(capacity.free('a', 255), 4)
  assert.equal(capacity.free('a', 256), 1)
  assert.equal(capacity.free('a', 512), 0)
})

const mebibyte = 1024 * 1024

/**
 * Takes bodies of one size for webhooks in turn, as rounds of claims do, until one does not fit. Returns their number.
 */
function takeBodies(capacity: Capacity, webhook_ids: string[], bytes: number): number {
  for (let taken = 0; ; taken++) {
    const webhook_id = webhook_ids[taken % webhook_ids.length] as string
    if (taken === 100_000 || !capacity.round()(webhook_id, bytes)) return taken
    capacity.acquire(webhook_id, bytes)
  }
}

test('the bodies in flight are at most 16 MiB together, and small ones always fit', () => {
  const capacity = createCapacity()
  attempts(capacity, 'good', ...times(10, 200))
  assert.equal(takeBodies(capacity, ['good'], mebibyte), 16)
  const fits = capacity.round()
  assert.deepEqual([fits('good', 16 * 1024 + 1), fits('good', 16 * 1024)], [false, true])
  capacity.release('good', null, mebibyte)
  assert.equal(takeBodies(capacity, ['good'], mebibyte), 1)
})

test('a body that is larger than all the room is sent alone', () => {
  const capacity = createCapacity()
  assert.equal(takeBodies(capacity, ['a'], 20 * mebibyte), 1)
  capacity.release('a', null, 20 * mebibyte)
  capacity.acquire('a', mebibyte)
  assert.equal(capacity.round()('b', 20 * mebibyte), false)
})

test('large bodies of endpoints that do not answer never take the second half of the bytes', () => {
  const capacity = createCapacity()
  attempts(capacity, 'good', ...times(10, 200))
  attempts(capacity, 'bad', null, null, null)
  assert.equal(takeBodies(capacity, ['bad'], mebibyte), 8)
  assert.equal(takeBodies(capacity, ['unknown'], mebibyte), 1)
  assert.equal(takeBodies(capacity, ['good'], mebibyte), 7)
})

test('bodies of one round count together', () => {
  const fits = createCapacity().round()
  const chosen = Array.from({ length: 20 }, () => fits('a', mebibyte)).filter(Boolean)
  assert.equal(chosen.length, 8)
})

test('in a slow start one attempt is in flight, and one more with each that ends', () => {
  const capacity = createCapacity()
  capacity.slowStart()
  assert.deepEqual([capacity.free('a'), capacity.free('b', 1), capacity.room()], [1, 0, 1])
  attempts(capacity, 'a', 500)
  assert.deepEqual([capacity.free('a'), capacity.room(), capacity.crowded()], [2, 2, true])
  capacity.acquire('a')
  capacity.release('a', null)
  assert.equal(capacity.room(), 2, 'an attempt that was given back proves nothing')
  for (let n = 0; n < 600; n++) attempts(capacity, `${n}`, 200)
  assert.deepEqual([capacity.room(), capacity.crowded()], [512, false])
})
