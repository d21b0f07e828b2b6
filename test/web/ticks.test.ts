// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ticksTo } from '../../web/src/home/ticks.ts'

test('the axis of a chart has round numbers, and reaches over the highest column', () => {
  assert.deepEqual(ticksTo(16_851), [0, 5000, 10_000, 15_000, 20_000])
  assert.deepEqual(ticksTo(3, true), [0, 1, 2, 3])
  assert.deepEqual(ticksTo(0, true), [0])
  for (const highest of [0.07, 1, 9.99, 10, 999, 123_456, 99_999_999_999.9999]) {
    const ticks = ticksTo(highest)
    assert.ok((ticks.at(-1) ?? 0) >= highest && ticks.length <= 6, `${highest}: ${ticks}`)
  }
})
