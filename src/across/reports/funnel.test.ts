// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { client, type Rapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { max_owners } from './fields.ts'
import { byOwner, largestOwners } from './lines.ts'

const clock = turnableClock()
const day = 86_400_000
const rapport = useRapport({ clock })

type Call = Rapport['call']
const sent = async (call: Call, path: string, body: object) =>
  dataOf(await call('POST', `/api/v1/${path}`, body))
const deal = (call: Call, fields: object) =>
  sent(call, 'deals', { name: 'Relaunch of the website', ...fields })
const report = async (call: Call, path: string) => dataOf(await call('GET', `/api/v1/reports/${path}`), 200)
type Stage = Record<string, unknown>
const column = (stages: Stage[], name: string) => stages.map((stage) => stage[name])

test('a funnel without deals has zeros, and neither rates nor days', async () => {
  const data = await report(await newWorkspace(rapport), 'funnel')
  assert.deepEqual([data.count, data.win_rate, data.stages.length], [0, null, 6])
  assert.deepEqual(data.stages[0], {
    stage: 'new_lead',
    reached_count: 0,
    conversion_to_next: null,
    conversion_to_won: null,
    open_count: 0,
    lost_count: 0,
    left_count: 0,
    median_days: null,
    mean_days: null,
    lost_reasons: [],
  })
  // The default is the last 90 days.
  assert.equal(Date.parse(data.to) - Date.parse(data.from), 89 * day)
})

test('a deal counts in the furthest stage it has been in: skipped stages are passed, and a step back is not', async () => {
  const call = await newWorkspace(rapport)
  const move = (id: number, stage: string) =>
    sent(call, `deals/${id}/change-stage`, { stage, lost_reason: stage === 'lost' ? 'Price' : null })
  await deal(call, { stage: 'new_lead' })
  await deal(call, { stage: 'proposal' })
  const back = await deal(call, { stage: 'negotiation' })
  await move(back.id, 'qualification')
  const lost = await deal(call, { stage: 'demo' })
  await move(lost.id, 'qualification')
  await move(lost.id, 'lost')
  await deal(call, { stage: 'won' })
  const reopened = await deal(call, { stage: 'won' })
  await move(reopened.id, 'demo')
  await deal(call, { stage: 'lost' })

  const { stages, ...sums } = await report(call, 'funnel')
  assert.deepEqual(
    [sums.count, sums.open_count, sums.won_count, sums.lost_count, sums.win_rate],
    [7, 4, 1, 2, 0.3333],
  )
  assert.deepEqual(column(stages, 'reached_count'), [7, 5, 5, 4, 3, 2])
  assert.deepEqual(column(stages, 'open_count'), [1, 0, 0, 1, 1, 1])
  assert.deepEqual(column(stages, 'lost_count'), [1, 0, 1, 0, 0, 0])
  assert.deepEqual(column(stages, 'conversion_to_next'), [0.7143, 1, 0.8, 0.75, 0.6667, 0.5])
  assert.deepEqual(column(stages, 'conversion_to_won'), [0.1429, 0.2, 0.2, 0.25, 0.3333, 0.5])
  assert.deepEqual(stages[2].lost_reasons, [{ reason: 'Price', count: 1 }])
  assert.deepEqual(stages[0].lost_reasons, [{ reason: null, count: 1 }])
})

test('the days in a stage are all stays of a deal that is no longer in it', async () => {
  const call = await newWorkspace(rapport)
  const move = (id: number, stage: string) => sent(call, `deals/${id}/change-stage`, { stage })
  const deals = [await deal(call, {}), await deal(call, {}), await deal(call, {}), await deal(call, {})]
  const [twice, once, stays, returned] = deals.map(({ id }) => Number(id)) as [number, number, number, number]
  clock.advance(day)
  for (const id of [twice, once, returned]) await move(id, 'demo')
  clock.advance(day)
  for (const id of [twice, returned]) await move(id, 'new_lead')
  clock.advance(2.5 * day)
  await move(twice, 'won')
  assert.ok(stays)
  const { stages } = await report(call, 'funnel')
  // New lead: 3.5 days of the first deal and 1 of the second. The others are in it.
  assert.deepEqual([stages[0].left_count, stages[0].median_days, stages[0].mean_days], [2, 2.25, 2.25])
  assert.deepEqual([stages[2].left_count, stages[2].median_days, stages[2].mean_days], [2, 1, 1])
  assert.deepEqual(column(stages, 'left_count'), [2, 0, 2, 0, 0, 0])
})

test('deals of one moment are counted once each, however many', async () => {
  const call = await newWorkspace(rapport)
  for (const count of [1000, 1000, 5]) {
    const items = Array.from({ length: count }, (_, n) => ({ op: 'create', data: { name: `Import ${n}` } }))
    await sent(call, 'deals/batch', { items })
  }
  assert.equal((await report(call, 'funnel')).count, 2005)
})

test('the ten most frequent reasons are shown, and only to callers who may read deals', async () => {
  const call = await newWorkspace(rapport)
  const items = Array.from({ length: 12 }, (_, n) => ({ op: 'create', data: { name: `Offer ${n}` } }))
  for (const { id } of await sent(call, 'deals/batch', { items }))
    await sent(call, `deals/${id}/change-stage`, { stage: 'lost', lost_reason: `Reason ${id}` })
  const extra = await deal(call, {})
  await sent(call, `deals/${extra.id}/change-stage`, { stage: 'lost', lost_reason: 'Too late, sadly' })
  await deal(call, {})
  const again = await deal(call, {})
  await sent(call, `deals/${again.id}/change-stage`, { stage: 'lost', lost_reason: 'Too late, sadly' })
  const { stages } = await report(call, 'funnel')
  assert.equal(stages[0].lost_reasons.length, 10)
  assert.deepEqual(stages[0].lost_reasons[0], { reason: 'Too late, sadly', count: 2 })

  const total = async (query: string) =>
    (await call('GET', `/api/v1/deals?furthest_stage=new_lead&${query}`)).body.meta.total
  for (const [reasons, count] of [
    ['Too late\\, sadly', 2],
    ['too late\\, sadly', 0],
    ['Too late', 0],
    [`Too late\\, sadly,Reason ${extra.id - 1}`, 3],
    ['!Too late\\, sadly', 13],
    ['!Too late\\, sadly,!null', 12],
    ['null', 1],
    ['!null', 14],
  ] as const)
    assert.equal(await total(`lost_reason=${encodeURIComponent(reasons)}`), count, reasons)
  assert.ok(problems(await call('GET', '/api/v1/deals?lost_reason=')).lost_reason)

  const { token } = await makeKey(rapport, { scopes: ['reports:read'] })
  const other = await client(rapport.url, token)('GET', '/api/v1/reports/funnel')
  assert.equal(other.status, 200)
  assert.deepEqual(column(other.body.data.stages, 'lost_reasons'), Array(6).fill(null))
})

test('the forecast of all dates adds up to the open pipeline, to the last decimal', async () => {
  const call = await newWorkspace(rapport)
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  const dates = [null, '2020-02-29', today, '2031-01-01']
  for (const expected_close_date of dates)
    for (const value of [0.1, 0.2, 99_999_999_999.9999])
      await deal(call, { stage: 'demo', probability: 33, value, expected_close_date })
  const forecast = await report(call, 'forecast')
  const pipeline = await report(call, 'pipeline')
  assert.deepEqual(forecast.total_open, pipeline.total_open)
  const one = { count: 3, value: 100_000_000_000.2999, weighted_value: 33_000_000_000.099 }
  const owners = [{ owner_id: null, ...one }]
  for (const bucket of ['overdue', 'later', 'undated'])
    assert.deepEqual(forecast[bucket], { ...one, owners }, bucket)
  assert.equal(forecast.months.length, 8)
  const { month, count, value, won_count } = forecast.months[2]
  assert.deepEqual([month, count, value, won_count], [today.slice(0, 7), 3, one.value, 0])
  assert.equal((await report(call, 'forecast?months_before=0&months_after=0')).months.length, 1)
})

test('days in the wrong order, too many days and malformed parameters are refused, with what is possible', async () => {
  const get = (path: string) => rapport.call('GET', `/api/v1/reports/${path}`)
  for (const [path, field] of [
    ['funnel?from=2026-11-02&to=2026-11-01', 'from'],
    ['funnel?from=2023-11-01&to=2026-11-01', 'from'],
    ['people?from=2025-10-31&to=2026-11-01', 'from'],
    ['funnel?from=2026-11-31', 'from'],
    ['funnel?to=9999-12-31', 'to'],
    ['funnel?to=1969-12-31', 'to'],
    ['people?time_zone=Berlin', 'time_zone'],
    ['forecast?time_zone=Berlin', 'time_zone'],
    ['forecast?months_after=25', 'months_after'],
    ['forecast?months_before=-1', 'months_before'],
  ] as const)
    assert.ok(problems(await get(path))[field], path)
  for (const path of ['funnel?from=2023-11-02&to=2026-11-01', 'people?from=2025-11-01&to=2026-11-01'])
    assert.equal((await get(path)).status, 200, path)
  refused(await get('funnel?stage=won'), 400, 'bad_request')
  assert.ok(problems(await rapport.call('GET', '/api/v1/deals?furthest_stage=won')).furthest_stage)
  // Nobody has this id, so nobody's records are counted.
  assert.equal((await get('people?owner_id=usr_nobody')).body.data.people.length, 0)
})

test('a report has lines for the owners with the most records, and says how many it leaves out', () => {
  const lines = Array.from({ length: max_owners + 3 }, (_, n) => ({ owner_id: `usr_${n}`, count: n }))
  const { owners, omitted } = largestOwners(
    [...lines, { owner_id: 'usr_0', count: 1000 }],
    ({ count }) => count,
  )
  assert.deepEqual([owners.length, omitted, owners[0], owners[1]], [max_owners, 3, 'usr_0', 'usr_202'])
  assert.deepEqual(
    byOwner(lines, ['usr_5', 'usr_none']).map(([owner, own]) => [owner, own.length]),
    [['usr_5', 1]],
  )
})
