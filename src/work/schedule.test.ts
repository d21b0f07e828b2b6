// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextAttemptAt } from './schedule.ts'

const ended = Date.UTC(2026, 10, 21, 8, 30)

test('retries are due exactly 60, 300 and 1800 seconds after the previous attempt ended, then none', () => {
  const due = [1, 2, 3, 4, 5].map((tries) => nextAttemptAt([60, 300, 1800], tries, ended))
  assert.deepEqual(due, [ended + 60_000, ended + 300_000, ended + 1_800_000, null, null])
})

test('without delays there is one attempt and no retry', () => {
  assert.equal(nextAttemptAt([], 1, ended), null)
})

test('an attempt that was only interrupted leaves the first try due at once', () => {
  assert.equal(nextAttemptAt([60], 0, ended), ended)
})

test('a retry is never early and there are exactly as many retries as delays', () => {
  const delays = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 6 })
  fc.assert(
    fc.property(delays, fc.integer({ min: 0, max: 2 ** 42 }), (list, at) => {
      list.forEach((delay, index) => {
        const due = nextAttemptAt(list, index + 1, at)
        assert.ok(
          due !== null && Number.isInteger(due) && due >= at + delay * 1000 && due <= at + delay * 1000 + 1,
        )
      })
      assert.equal(nextAttemptAt(list, list.length + 1, at), null)
    }),
  )
})
