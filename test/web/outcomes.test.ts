// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureOf, outcomeOf, statusText } from '../../web/src/webhooks/outcome-text.ts'
import { en } from './texts.ts'

const row = (last_response_status: number | null, last_error_code: string | null, last_duration_ms = 12) => ({
  attempt_count: 3,
  last_response_status,
  last_error_code,
  last_duration_ms,
})
test('the status of a failed delivery has the status of the answer, or why there was none', () => {
  const table: [Parameters<typeof row>, string][] = [
    [[500, 'http_error'], 'Failed · 500'],
    [[null, 'timeout', 10_004], 'Failed · No answer in 10 s'],
    [[200, 'timeout', 10_004], 'Failed · No answer in 10 s'],
    [[null, 'dns_error'], 'Failed · Name not found'],
    [[301, 'redirect_not_followed'], 'Failed · Redirect not followed'],
  ]
  for (const [ended, shown] of table)
    assert.equal(statusText('failed', failureOf(row(...ended), en), en), shown)
})

test('a delivery that waits for its next attempt shows the last failure, a success and a cancellation do not', () => {
  assert.equal(statusText('pending', failureOf(row(503, 'http_error'), en), en), 'Pending · 503')
  assert.equal(statusText('succeeded', failureOf(row(200, null), en), en), 'Succeeded')
  assert.equal(statusText('cancelled', 'HTTP 503', en), 'Cancelled')
  assert.equal(outcomeOf({ status: 204, error_code: null, duration_ms: 8 }, en), 'HTTP 204')
})
