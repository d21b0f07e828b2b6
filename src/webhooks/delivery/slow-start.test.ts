// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlowStart } from './slow-start.ts'

test('interrupted deliveries are looked for at the start and every second', () => {
  let now = 1000
  const slow = createSlowStart(() => now)
  assert.equal(slow.looks(), true)
  assert.equal(slow.found(false), false)
  assert.deepEqual([slow.looks(), slow.oneByOne()], [false, false])
  now += 1000
  assert.equal(slow.looks(), true)
})

test('they are attempted one by one while some are left, for 30 s at most, and anew after the next crash', () => {
  let now = 1000
  const slow = createSlowStart(() => now)
  assert.equal(slow.found(true), true)
  assert.deepEqual([slow.found(true), slow.looks(), slow.oneByOne()], [false, true, true])
  now += 30_000
  assert.deepEqual([slow.found(true), slow.looks(), slow.oneByOne()], [false, true, false])
  assert.equal(slow.found(false), false)
  assert.equal(slow.found(true), true)
  assert.equal(slow.oneByOne(), true)
})
