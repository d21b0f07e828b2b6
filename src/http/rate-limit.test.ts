// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLimiter } from './rate-limit.ts'

test('no window of time, however the requests fall, lets through more than the burst and the rate', () => {
  const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3000 })), {
    minLength: 1,
    maxLength: 200,
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), gaps, (per_second, waits) => {
      let now = 0
      const limiter = createLimiter(per_second, { elapsed: () => now })
      const allowed: number[] = []
      for (const wait of waits) {
        now += wait
        const { retry_after_seconds, remaining, reset_seconds } = limiter?.('key') ?? assert.fail()
        if (!retry_after_seconds) allowed.push(now)
        assert.ok(remaining >= 0 && remaining < per_second * 2 && reset_seconds >= 1 && reset_seconds <= 2)
      }
      for (const [from, start] of allowed.entries())
        for (const [to, end] of allowed.entries())
          if (to >= from)
            assert.ok(to - from + 1 <= per_second * 2 + ((end - start) / 1000) * per_second + 1e-6)
    }),
  )
})

test('a caller within the rate is never refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 2000 }), (per_second, count) => {
      let now = 1e12
      const limiter = createLimiter(per_second, { elapsed: () => now })
      for (let index = 0; index < count; index++) {
        assert.equal(limiter?.('key').retry_after_seconds, 0)
        now += 1000 / per_second
      }
    }),
  )
})

test('a clock that is turned back neither locks a key out nor gives it more', () => {
  let now = 1e12
  const limiter = createLimiter(1, { elapsed: () => now })
  const allowed = () => limiter?.('key').retry_after_seconds === 0
  assert.deepEqual([allowed(), allowed(), allowed()], [true, true, false])
  now -= 3_600_000
  assert.equal(allowed(), false)
  now += 1000
  assert.deepEqual([allowed(), allowed()], [true, false])
})

test('however many keys come at once, each costs about the same, and those that are full again are forgotten', () => {
  let now = 1e12
  let reads = 0
  const limiter = createLimiter(5, {
    elapsed: () => {
      reads++
      return now
    },
  })
  const start = process.threadCpuUsage()
  for (let i = 0; i < 60_000; i++) limiter?.(`key ${i}`)
  // A look at all of them for each of them would take minutes.
  const { user, system } = process.threadCpuUsage(start)
  assert.ok((user + system) / 1000 < 5000)
  assert.equal(reads, 60_000)
  now += 3_600_000
  for (let i = 0; i < 10; i++) assert.equal(limiter?.('key 1').retry_after_seconds, 0)
  assert.equal(limiter?.('key 1').retry_after_seconds, 1)
})

test('at most 100,000 buckets are kept, however many callers come at once: the oldest is forgotten', () => {
  const limit = createLimiter(2, { elapsed: () => 0 })
  assert.ok(limit)
  for (let n = 0; n < 4; n++) limit('first')
  assert.equal(limit('first').retry_after_seconds, 1)
  for (let n = 0; n < 100_000; n++) limit(`address ${n}`)
  assert.equal(limit('first').retry_after_seconds, 0)
})
