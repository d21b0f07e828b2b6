// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { daysInStage, isStale, lastStaleDay } from '../../web/src/deals/staleness.ts'

test('a deal is stale on the days that the filter for stale deals finds, at every hour, and only while it is open', () => {
  for (const now of ['2026-11-23T00:00:00.000Z', '2026-11-23T12:30:00.000Z', '2026-11-23T23:59:59.999Z']) {
    const now_ms = Date.parse(now)
    const end = `${lastStaleDay(now_ms)}T23:59:59.999Z`
    const later = new Date(Date.parse(end) + 1).toISOString()
    assert.equal(daysInStage(end, now_ms), 14)
    assert.ok(isStale({ status: 'open', stage_since: end }, now_ms))
    assert.ok(!isStale({ status: 'open', stage_since: later }, now_ms))
    assert.ok(!isStale({ status: 'won', stage_since: end }, now_ms))
    assert.ok(!isStale({ status: 'open', stage_since: null }, now_ms))
    // A clock that is behind the server's.
    assert.equal(daysInStage('2026-11-24T00:00:00.000Z', now_ms), 0)
  }
})
