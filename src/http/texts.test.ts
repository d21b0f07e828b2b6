// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textProblems } from './texts.ts'

test('a long name over thousands of bad texts gives a short error at once', () => {
  // This thread's CPU time does not include other programs on a busy machine.
  const started = process.threadCpuUsage()
  const problems = textProblems({ ['x'.repeat(20_000)]: Array.from({ length: 100_000 }, () => 'a\0') })
  assert.equal(problems.length, 1000)
  assert.ok(JSON.stringify(problems).length < 400_000)
  const { user, system } = process.threadCpuUsage(started)
  assert.ok(user + system < 1_000_000, `${(user + system) / 1000} ms`)
})
