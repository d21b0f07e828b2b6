// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlowStart } from './slow-start.ts'

test('interrupted deliveries are looked for at the start and every second', () => {
  let now = 1000
  const slow = createSlowStart(() => now)
  assert.equal(slow.isPollDue(), true)
  assert.equal(slow.recordPoll(false), false)
  assert.deepEqual([slow.isPollDue(), slow.isOneByOne()], [false, false])
  now += 1000
  assert.equal(slow.isPollDue(), true)
})

test('they are attempted one by one while some are left, for 30 s at most, and anew after the next crash', () => {
  let now = 1000
  const slow = createSlowStart(() => now)
  assert.equal(slow.recordPoll(true), true)
  assert.deepEqual([slow.recordPoll(true), slow.isPollDue(), slow.isOneByOne()], [false, true, true])
  now += 30_000
  assert.deepEqual([slow.recordPoll(true), slow.isPollDue(), slow.isOneByOne()], [false, true, false])
  assert.equal(slow.recordPoll(false), false)
  assert.equal(slow.recordPoll(true), true)
  assert.equal(slow.isOneByOne(), true)
})
