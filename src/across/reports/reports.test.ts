// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../../test/database.ts'
import { dataOf, problems, refused } from '../../../test/envelope.ts'
import { client, type Rapport, startRapport, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'
import { defaultProbabilities, stages, statusOf } from '../../resources/deals/stages.ts'
import { decimalOf, hundredth } from '../../resources/values/sums.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })

const path = '/api/v1/reports'
type Call = Rapport['call']

const made = async (call: Call, kind: string, body: object) =>
  dataOf(await call('POST', `/api/v1/${kind}`, body), 201)
async function report(call: Call, name: string) {
  const reply = await call('GET', `${path}/${name}`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(Object.keys(reply.body), ['success', 'data'])
  return reply.body.data
}
type Stage = { stage: string; status: string; count: number; value: number; weighted_value: number }
const some = (data: { stages: Stage[] }) => data.stages.filter(({ count }) => count)
const lines = (data: { stages: Stage[] }) =>
  some(data).map(({ stage, count, value, weighted_value }) => [stage, count, value, weighted_value])

test('the pipeline has the eight stages in their order, with zeros where there is no deal', async () => {
  const call = await newWorkspace(rapport)
  const zeros = { count: 0, value: 0, weighted_value: 0 }
  assert.deepEqual(await report(call, 'pipeline'), {
    stages: stages.map((stage) => ({ stage, status: statusOf(stage), ...zeros })),
    total_open: zeros,
  })
})

test('a deal weighs by the probability that it shows: its own, or that of its stage; closed ones are in no total', async () => {
  const call = await newWorkspace(rapport)
  for (const stage of stages) await made(call, 'deals', { name: stage, stage, value: 1000 })
  await made(call, 'deals', { name: 'Own', stage: 'demo', value: 10, probability: 75 })
  await made(call, 'deals', { name: 'None', stage: 'demo' })
  const reopened = await made(call, 'deals', { name: 'Again', stage: 'proposal', value: 1, probability: 7 })
  for (const body of [{ stage: 'won', probability: 90 }, { stage: 'proposal' }])
    await call('POST', `/api/v1/deals/${reopened.id}/change-stage`, body)
  const { probability } = (await call('GET', `/api/v1/deals/${reopened.id}`)).body.data
  const data = await report(call, 'pipeline')
  assert.deepEqual(
    lines(data),
    stages.map((stage) => {
      const weighted = 10 * defaultProbabilities[stage]
      if (stage === 'demo') return [stage, 3, 1010, weighted + 7.5]
      if (stage === 'proposal') return [stage, 2, 1001, weighted + probability / 100]
      return [stage, 1, 1000, weighted]
    }),
  )
  assert.deepEqual(data.total_open, { count: 9, value: 6011, weighted_value: 3007.5 + probability / 100 })
})

test('sums are exact, of the least and of the highest values; weights are rounded once, a half up', async () => {
  const call = await newWorkspace(rapport)
  // As doubles, the sum of these would be 0.30000000000000004.
  for (const value of [0.1, 0.2]) await made(call, 'deals', { name: 'A', stage: 'demo', value })
  for (let n = 0; n < 3; n++) await made(call, 'deals', { name: 'B', value: 0.0001, probability: 50 })
  for (let n = 0; n < 5; n++)
    await made(call, 'deals', { name: 'C', stage: 'won', value: 99_999_999_999.9999 })
  const data = await report(call, 'pipeline')
  assert.deepEqual(lines(data), [
    ['new_lead', 3, 0.0003, 0.0002],
    ['demo', 2, 0.3, 0.12],
    ['won', 5, 499_999_999_999.9995, 499_999_999_999.9995],
  ])
  assert.deepEqual(data.total_open, { count: 5, value: 0.3003, weighted_value: 0.1202 })
})

test('deals in the trash do not count, and count again when they are restored', async () => {
  const call = await newWorkspace(rapport)
  const deal = await made(call, 'deals', { name: 'A', stage: 'won', value: 5 })
  await call('DELETE', `/api/v1/deals/${deal.id}`)
  assert.deepEqual(lines(await report(call, 'pipeline')), [])
  assert.equal((await report(call, 'outcomes')).won_count, 0)
  await call('POST', `/api/v1/deals/${deal.id}/restore`)
  assert.deepEqual(lines(await report(call, 'pipeline')), [['won', 1, 5, 5]])
  assert.equal((await report(call, 'outcomes')).won_count, 1)
})

test('the pipeline of a company, a contact or an owner has their deals alone; of one in the trash or another workspace, none', async () => {
  const call = await newWorkspace(rapport)
  const company = await made(call, 'companies', { name: 'Acme' })
  const contact = await made(call, 'contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  await made(call, 'deals', { name: 'Nobody', value: 1 })
  await made(call, 'deals', { name: 'Company', value: 2, company_id: company.id })
  await made(call, 'deals', { name: 'Contact', value: 4, contact_id: contact.id })
  await made(call, 'deals', { name: 'Both', value: 8, company_id: company.id, contact_id: contact.id })
  const value = async (query: string, by = call) => (await report(by, `pipeline?${query}`)).total_open.value
  assert.equal(await value(''), 15)
  assert.equal(await value(`company_id=${company.id}`), 10)
  assert.equal(await value(`contact_id=${contact.id}`), 12)
  assert.equal(await value(`company_id=${company.id}&contact_id=${contact.id}`), 8)
  assert.equal(await value(`company_id=${company.id}`, rapport.call), 0)
  assert.equal(await value('company_id=999999'), 0)
  assert.equal(await value(`owner_id=null&company_id=${company.id}`), 10)
  assert.equal(await value('owner_id=!null'), 0)
  await call('DELETE', `/api/v1/companies/${company.id}`)
  assert.equal(await value(`company_id=${company.id}`), 0)
  assert.equal(await value(''), 15)
})

test('outcomes count in the month in which a deal was closed, as the zone has it', async () => {
  const turned = turnableClock(Date.parse('2026-10-31T22:59:59.999Z'))
  const service = await startRapport({ clock: turned })
  const { call } = service
  try {
    await made(call, 'deals', { name: 'A', stage: 'won', value: 1.25 })
    turned.advance(1)
    await made(call, 'deals', { name: 'B', stage: 'won', value: 2 })
    await made(call, 'deals', { name: 'C', stage: 'won' })
    const lost = await made(call, 'deals', { name: 'D', value: 8.5 })
    await call('POST', `/api/v1/deals/${lost.id}/change-stage`, { stage: 'lost', lost_reason: 'Price' })
    turned.advance(21 * 86_400_000)
    const none = { won_count: 0, won_value: 0, lost_count: 0, lost_value: 0 }
    const sums = { won_count: 3, lost_count: 1, win_rate: 0.75 }
    assert.deepEqual(await report(call, 'outcomes?months=2&time_zone=Europe/Berlin'), {
      months: [
        { month: '2026-10', ...none, won_count: 1, won_value: 1.25 },
        { month: '2026-11', won_count: 2, won_value: 2, lost_count: 1, lost_value: 8.5 },
      ],
      ...sums,
    })
    assert.deepEqual(await report(call, 'outcomes?months=2'), {
      months: [
        { month: '2026-10', won_count: 3, won_value: 3.25, lost_count: 1, lost_value: 8.5 },
        { month: '2026-11', ...none },
      ],
      ...sums,
    })
    // The sums do not contain deals before the first month, either.
    const only = await report(call, 'outcomes?months=1&time_zone=europe/berlin')
    assert.deepEqual([only.months.length, only.won_count, only.win_rate], [1, 2, 0.6667])
    const last = await report(call, 'outcomes?months=1')
    assert.deepEqual([last.won_count, last.lost_count, last.win_rate], [0, 0, null])
    assert.equal((await report(call, 'outcomes')).months.length, 12)
    assert.equal((await report(call, 'outcomes?months=36')).months[0].month, '2023-12')
    // A reopened deal is no longer an outcome.
    await call('POST', `/api/v1/deals/${lost.id}/change-stage`, { stage: 'demo' })
    assert.equal((await report(call, 'outcomes')).lost_count, 0)
  } finally {
    await service.close()
  }
})

test('open activities are counted as overdue, due today and upcoming, by the day of the zone', async () => {
  const call = await newWorkspace(rapport)
  const now = clock.now()
  const due = (ms: number) => ({ subject: 'Call', due_at: new Date(now + ms).toISOString() })
  const day = Date.parse('2026-11-22T00:00:00Z')
  // 08:30 UTC on 21 November: 21:30 in Auckland, where the day has begun at 11:00 UTC of the day before.
  await made(call, 'activities', due(-86_400_000))
  await made(call, 'activities', due(-1))
  await made(call, 'activities', due(0))
  await made(call, 'activities', due(3 * 3_600_000))
  await made(call, 'activities', due(day - now - 1))
  await made(call, 'activities', due(day - now))
  await made(call, 'activities', { subject: 'Whenever' })
  await made(call, 'activities', { ...due(-1), completed_at: new Date(now).toISOString() })
  const gone = await made(call, 'activities', due(1))
  await call('DELETE', `/api/v1/activities/${gone.id}`)
  const counts = { overdue_count: 2, today_count: 4, upcoming_count: 1 }
  assert.deepEqual(await report(call, 'activities'), counts)
  assert.deepEqual(await report(call, 'activities?time_zone=Pacific/Auckland'), {
    overdue_count: 2,
    today_count: 2,
    upcoming_count: 3,
  })
  const overdue = await call('GET', '/api/v1/activities?status=overdue')
  assert.equal(overdue.body.meta.total, counts.overdue_count)
})

test('a zone that is none, a number of months out of range and an unknown parameter are refused', async () => {
  const { call } = rapport
  for (const zone of ['Berlin', '%2B01:00', '', 'Europe/Berlin%00'])
    for (const name of ['outcomes', 'activities'])
      assert.ok(problems(await call('GET', `${path}/${name}?time_zone=${zone}`)).time_zone, zone)
  for (const months of ['0', '37', '1.5', 'x'])
    assert.ok(problems(await call('GET', `${path}/outcomes?months=${months}`)).months, months)
  refused(await call('GET', `${path}/pipeline?stage=won`), 400, 'bad_request')
})

test('reports need the scope reports:read, and show nothing of another workspace', async () => {
  const { token } = await makeKey(rapport, { scopes: ['deals:read'] })
  for (const name of ['pipeline', 'outcomes', 'activities', 'funnel', 'forecast', 'people'])
    refused(await client(rapport.url, token)('GET', `${path}/${name}`), 403, 'forbidden')
  const [call, other] = [await newWorkspace(rapport), await newWorkspace(rapport)]
  await made(call, 'deals', { name: 'A', value: 1 })
  await made(call, 'deals', { name: 'B', value: 1, stage: 'won' })
  await made(call, 'activities', { subject: 'C', due_at: new Date(clock.now()).toISOString() })
  assert.deepEqual(lines(await report(other, 'pipeline')), [])
  assert.equal((await report(other, 'outcomes')).won_count, 0)
  assert.equal((await report(other, 'activities')).today_count, 0)
  assert.equal((await report(other, 'funnel')).count, 0)
  assert.equal((await report(other, 'forecast')).total_open.count, 0)
  assert.equal((await report(other, 'people?to=2026-12-31')).open_count, 0)
  assert.equal((await report(call, 'people?to=2026-12-31')).open_count, 1)
})

test('ten-thousandths become the nearest number, however many, and a half of one goes up', () => {
  assert.deepEqual([0n, 1n, 12_345n, 10n ** 15n].map(decimalOf), [0, 0.0001, 1.2345, 100_000_000_000])
  assert.equal(decimalOf(4_999_999_999_999_999n), 499_999_999_999.9999)
  assert.equal(decimalOf(10n ** 22n + 1n), 1e18)
  assert.deepEqual([149n, 150n, 0n].map(hundredth), [1n, 2n, 0n])
})
