// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealIn, goBack, type MovedOf, positionOf } from '../../web/src/deals/move-state.ts'
import { daysInStage } from '../../web/src/deals/staleness.ts'

const at = Date.parse('2026-11-23T21:30:00Z')
type Crane = Parameters<typeof dealIn>[0] & { name: string; value: number }
const since = '2026-11-02T08:15:00.000Z'
const crane: Crane = {
  id: 1204,
  name: 'Container crane, second lot: Hafen- und Lagerhausgesellschaft Aktiengesellschaft Hamburg',
  value: 753505.2402,
  stage: 'proposal',
  status: 'open',
  probability: 50,
  stage_since: since,
}

test('a card in another open stage has that stage’s probability, unless the deal has its own', () => {
  const standard = dealIn(
    { ...crane, stage: 'demo', probability: dealIn(crane, 'demo').probability },
    'proposal',
  )
  assert.equal(standard.probability, dealIn({ ...crane, stage: 'new_lead' }, 'proposal').probability)
  assert.equal(dealIn({ ...crane, probability: 33 }, 'negotiation').probability, 33)
  assert.equal(standard.status, 'open')
})

test('a card in won or lost is closed, with the probability of the outcome, and opens again', () => {
  const won = dealIn({ ...crane, probability: 33 }, 'won')
  assert.deepEqual([won.status, won.probability], ['won', 100])
  const lost = dealIn({ ...crane, probability: 33 }, 'lost')
  assert.deepEqual([lost.status, lost.probability], ['lost', 0])
  assert.equal(dealIn(lost, 'demo').status, 'open')
})

test('a moved card is new in its stage; a card that stays keeps everything', () => {
  assert.ok(Date.parse(dealIn(crane, 'demo').stage_since ?? '') > Date.parse(since))
  assert.equal(dealIn(crane, 'proposal'), crane)
  assert.equal(dealIn(crane, 'won').value, 753505.2402)
})

test('a card is in the column of its last move, but a question about the reason leaves it where it was', () => {
  const moved: MovedOf<Crane> = new Map()
  assert.equal(positionOf(moved, crane).from, 'proposal')
  moved.set(crane.id, { deal: crane, from: 'proposal', to: 'demo', state: 'sent' })
  assert.equal(positionOf(moved, crane).from, 'demo')
  moved.set(crane.id, { deal: crane, from: 'demo', to: 'lost', state: 'asked' })
  assert.equal(positionOf(moved, crane).from, 'demo')
})

test('a card whose move fails goes back to the column that its move began in', () => {
  const moved: MovedOf<Crane> = new Map()
  const first = { deal: crane, from: 'proposal', to: 'demo', state: 'sent' } as const
  moved.set(crane.id, first)
  goBack(moved, first)
  assert.equal(moved.size, 0)
  // The board still shows the deal in proposal, while the service has it in demo.
  goBack(moved, { deal: crane, from: 'demo', to: 'won', state: 'sent' })
  assert.deepEqual(moved.get(crane.id), { deal: crane, from: 'demo', to: 'demo', state: 'done' })
})

test('a stage that begins in the future, by a clock that is ahead, counts no days', () => {
  assert.equal(daysInStage('2026-11-24T09:00:00.000Z', at), 0)
})
