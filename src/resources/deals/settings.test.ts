// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf, problems } from '../../../test/envelope.ts'
import { turnableClock, useRapport } from '../../../test/harness.ts'
import { defaultProbabilities, type Stage, stages, statusOf } from './stages.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const path = '/api/v1/workspace/stages'

/** A client of a workspace of its own. */
async function fresh() {
  const call = await newWorkspace(rapport)
  const make = async (body: object) => dataOf(await call('POST', '/api/v1/deals', body), 201)
  const save = async (body: object) => dataOf(await call('PUT', path, body))
  const read = async (of: string) => dataOf(await call('GET', `/api/v1${of}`))
  return { call, make, save, read }
}
const built_in = stages.map((stage) => ({
  stage,
  label: null,
  colour: null,
  probability: defaultProbabilities[stage],
  stale_after_days: statusOf(stage) === 'open' ? 14 : null,
}))
const with_own = (own: Partial<Record<Stage, object>>) =>
  built_in.map((one) => ({ ...one, ...own[one.stage] }))

test('a workspace begins with the eight stages as they are built in, and without lists of its own', async () => {
  const { read } = await fresh()
  assert.deepEqual(await read('/workspace/stages'), {
    deal_stages: built_in,
    lost_reasons: [],
    contact_stages: [],
  })
})

test('labels, order, colours and defaults of the stages are kept, in the audit log too, and null restores what is built in', async () => {
  const { call, save, read } = await fresh()
  const own = with_own({
    proposal: { label: 'Offer sent', colour: '#1c7ed6', probability: 55, stale_after_days: 30 },
  })
  const [lead, qualification, demo, ...rest] = own
  const deal_stages = [lead, demo, qualification, ...rest]
  const saved = await save({ deal_stages, lost_reasons: ['Price', 'Timing'] })
  assert.deepEqual(saved, { deal_stages, lost_reasons: ['Price', 'Timing'], contact_stages: [] })
  assert.deepEqual(await read('/workspace/stages'), saved)
  const [entry] = (await call('GET', '/api/v1/audit-log?kind=workspaces&action=updated')).body.data
  assert.deepEqual(entry.before, { deal_stages: [], lost_reasons: [] })
  assert.equal(entry.after.deal_stages[3].label, 'Offer sent')
  // Settings that were read can be sent back, and a list alone changes no other one.
  assert.deepEqual(await save(saved), saved)
  const lists = await save({ contact_stages: ['lead', 'customer'] })
  assert.deepEqual(lists, { ...saved, contact_stages: ['lead', 'customer'] })
  const cleared = stages.map((stage) => ({ stage, label: null, colour: null, probability: null }))
  assert.deepEqual((await save({ deal_stages: cleared })).deal_stages, built_in)
})

test('settings with a missing, a doubled or a misplaced stage are refused, each with its field', async () => {
  const { call } = await fresh()
  const send = async (body: object) => problems(await call('PUT', path, body))
  assert.deepEqual(await send({ deal_stages: built_in.slice(1) }), { deal_stages: 'required' })
  assert.deepEqual(await send({ deal_stages: [...built_in, built_in[7]] }), { deal_stages: 'not_unique' })
  assert.deepEqual(await send({ deal_stages: built_in.toReversed() }), { deal_stages: 'not_allowed' })
  assert.deepEqual(await send({ deal_stages: [{ stage: 'sold', colour: 'red', probability: 101 }] }), {
    'deal_stages.0.stage': 'unknown_value',
    'deal_stages.0.colour': 'invalid_format',
    'deal_stages.0.probability': 'out_of_range',
  })
})

test('a deal without an own probability has that of the workspace: in answers, filters, reports and events', async () => {
  const { make, save, read, call } = await fresh()
  await save({ deal_stages: with_own({ proposal: { probability: 50 } }) })
  const deal = await make({ name: 'Relaunch', stage: 'proposal', value: 1000 })
  const own = await make({ name: 'Own', stage: 'proposal', value: 1000, probability: 70 })
  assert.deepEqual([deal.probability, own.probability], [50, 70])
  const found = async (query: string) => (await read(`/deals?${query}`)).map(({ id }: { id: number }) => id)
  assert.deepEqual(await found('probability_to=50'), [deal.id])
  const pipeline = await read('/reports/pipeline')
  assert.equal(pipeline.total_open.weighted_value, 1200)
  assert.equal((await read('/reports/forecast')).total_open.weighted_value, 1200)
  // A default that is sent back does not become the deal's own value.
  const sent = dataOf(await call('PUT', `/api/v1/deals/${deal.id}`, { probability: 50 }))
  assert.equal(sent.updated_at, deal.updated_at)
  await save({ deal_stages: with_own({ proposal: { probability: 45 } }) })
  assert.deepEqual(
    [(await read(`/deals/${deal.id}`)).probability, await found('probability_to=50')],
    [45, [deal.id]],
  )
  // Nor is a change to the usual default lost.
  assert.equal(dataOf(await call('PUT', `/api/v1/deals/${deal.id}`, { probability: 60 })).probability, 60)
  const [created] = (await call('GET', `/api/v1/events?event=deal.created`)).body.data
  assert.equal(created.data.probability, 50)
})

test('an open deal stands still after the days of its stage', async () => {
  const { make, save, read } = await fresh()
  await save({ deal_stages: with_own({ demo: { stale_after_days: 3 }, proposal: { stale_after_days: 30 } }) })
  for (const stage of ['new_lead', 'demo', 'proposal', 'won']) await make({ name: stage, stage })
  const stale = async () =>
    (await read('/deals?stale=true&sort=id')).map(({ name }: { name: string }) => name)
  const groups = async () => (await read('/deals/groups?by=stage&stale=true')).length ?? 0
  assert.deepEqual(await stale(), [])
  clock.advance(3 * 86_400_000)
  assert.deepEqual(await stale(), ['demo'])
  clock.advance(11 * 86_400_000)
  assert.deepEqual(await stale(), ['new_lead', 'demo'])
  clock.advance(16 * 86_400_000)
  assert.deepEqual(await stale(), ['new_lead', 'demo', 'proposal'])
  await groups()
})

test('the funnel and the furthest stage follow the order of the workspace', async () => {
  const { make, save, read } = await fresh()
  const [lead, qualification, demo, ...rest] = built_in
  await save({ deal_stages: [lead, demo, qualification, ...rest] })
  await make({ name: 'Far', stage: 'qualification' })
  const { stages: shown } = await read('/reports/funnel')
  assert.deepEqual(
    shown.slice(0, 3).map(({ stage, reached_count }: Record<string, unknown>) => [stage, reached_count]),
    [
      ['new_lead', 1],
      ['demo', 1],
      ['qualification', 1],
    ],
  )
  assert.equal((await read('/deals?furthest_stage=qualification')).length, 1)
  assert.deepEqual(
    (await read('/reports/pipeline')).stages.map(({ stage }: { stage: string }) => stage).slice(0, 3),
    ['new_lead', 'demo', 'qualification'],
  )
})
