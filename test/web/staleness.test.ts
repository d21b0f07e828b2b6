// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  default_probabilities,
  open_stages,
  setStages,
  stages,
  staleAfter,
} from '../../web/src/deals/stages.ts'
import { daysInStage, isStale } from '../../web/src/deals/staleness.ts'

test('a deal is stale from the days of its stage on, at every hour, and only while it is open', () => {
  const none = { label: null, colour: null, probability: null, stale_after_days: null }
  const own = [...stages].map((stage) => ({
    ...none,
    stage,
    ...(stage === 'demo' && { stale_after_days: 3 }),
  }))
  for (const [days, given] of [
    [14, []],
    [3, own],
  ] as const) {
    setStages([...given])
    assert.deepEqual([staleAfter('demo'), staleAfter('proposal')], [days, 14])
    for (const now of ['2026-11-23T00:00:00.000Z', '2026-11-23T12:30:00.000Z', '2026-11-23T23:59:59.999Z']) {
      const now_ms = Date.parse(now)
      const day = new Date(now_ms - days * 86_400_000).toISOString().slice(0, 10)
      const end = `${day}T23:59:59.999Z`
      const later = new Date(Date.parse(end) + 1).toISOString()
      const of = (stage_since: string | null, status = 'open') =>
        ({ status, stage: 'demo', stage_since }) as const
      assert.equal(daysInStage(end, now_ms), days)
      assert.ok(isStale(of(end), now_ms))
      assert.ok(!isStale(of(later), now_ms))
      assert.ok(!isStale(of(end, 'won'), now_ms))
      assert.ok(!isStale(of(null), now_ms))
      // A clock that is behind the server's.
      assert.equal(daysInStage('2026-11-24T00:00:00.000Z', now_ms), 0)
    }
  }
})

test('the order and the defaults are those of the workspace, and the built-in ones where it has none', () => {
  const built_in = [...stages]
  const [lead, qualification, demo, ...rest] = built_in
  const none = { label: null, colour: null, probability: null, stale_after_days: null }
  const order = [lead, demo, qualification, ...rest] as typeof built_in
  setStages(
    order.map((stage) => ({
      ...none,
      stage,
      ...(stage === 'demo' && { probability: 33 }),
    })),
  )
  assert.deepEqual(stages, order)
  assert.deepEqual(open_stages, order.slice(0, -2))
  assert.deepEqual([default_probabilities.demo, default_probabilities.proposal], [33, 60])
  setStages([])
  assert.deepEqual([stages, default_probabilities.demo], [built_in, 40])
})
