// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { open_stages, type Stage, stages, statusOf } from '../src/resources/deals/stages.ts'
import { highest_value } from '../src/resources/values/decimal.ts'
import { writeParts } from '../web/src/ui/filter-value.ts'
import { type Rapport, startRapport, turnableClock } from './harness.ts'
import { join, setUp, signIn } from './people.ts'
import {
  activity_types,
  dayIn,
  furthestOf,
  type PlainActivity,
  type PlainDeal,
  plainActivities,
  plainForecast,
  plainFunnel,
  plainOutcomes,
  plainPeople,
  plainPipeline,
  valueIn,
} from './plain-reports.ts'

// More by hand: REPORT_DEALS=10000.
const count = Number(process.env.REPORT_DEALS ?? 150)
const hour = 3_600_000
const day = 24 * hour
const start = Date.UTC(2026, 0, 1)
const months = 14
// Some skip midnight when their clocks change, and some are half an hour beside the others.
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Pacific/Auckland',
  'Pacific/Kiritimati',
]
const reasons = ['Price', 'price', 'null', '\\null', '!null', 'Kein Budget, 2027', 'Too late\\']

/** A time in these months: often a millisecond around the start of a month, somewhere on Earth. */
const moment = fc.oneof(
  fc.integer({ min: start, max: start + months * 30 * day }),
  fc
    .record({
      month: fc.nat(months - 1),
      hours: fc.integer({ min: -14, max: 12 }),
      ms: fc.constantFrom(-1, 0, 1),
    })
    .map(({ month, hours, ms }) => Math.max(start, Date.UTC(2026, month, 1) + hours * hour + ms)),
)
const highest = Math.round(highest_value * 10_000)
const units = fc.oneof(
  fc.constant(null),
  fc.nat(50_000_000),
  fc.integer({ min: highest - 1000, max: highest }),
)
const owner = fc.nat(3)
const fate = fc.constantFrom('stays', 'stays', 'stays', 'stays', 'trash', 'restored')
const deal = fc.record({
  owner,
  fate,
  units,
  company: fc.nat(2),
  probability: fc.option(fc.integer({ min: 0, max: 100 })),
  // Days from the first one.
  close: fc.option(fc.integer({ min: 300, max: 800 })),
  first: fc.record({ at: moment, stage: fc.constantFrom(...stages) }),
  moves: fc.array(
    fc.record({
      at: moment,
      owner,
      units,
      by: fc.constantFrom('put', 'verb', 'verb'),
      // Minutes after the one before it, in place of its time.
      soon: fc.option(fc.nat(600)),
      stage: fc.constantFrom<Stage[]>(...stages, 'lost', 'lost'),
      reason: fc.constantFrom(...reasons),
    }),
    { maxLength: 4, size: 'max' },
  ),
})
const activity = fc.record({
  owner,
  fate,
  type: fc.constantFrom(...activity_types),
  due: fc.option(moment),
  done: fc.option(moment, { freq: 1 }),
})
const question = fc.record({
  zone: fc.constantFrom(...zones),
  owners: fc.constantFrom<number[][]>([], [], [0], [1], [3], [0, 2], [1, 2, 3]),
  company: fc.nat(2),
  before: fc.nat(14),
  after: fc.nat(8),
  months: fc.integer({ min: 1, max: 36 }),
  ends: fc.tuple(moment, moment).map((ends) => ends.sort((a, b) => a - b)),
})
type Made<A> = A extends fc.Arbitrary<infer One> ? One : never
type Deal = Made<typeof deal>
type Activity = Made<typeof activity>
type Question = Made<typeof question>

const known = (first: Stage, ...moves: [Stage, string][]): Deal => ({
  owner: 1,
  fate: 'stays',
  units: 125_000,
  company: 1,
  probability: null,
  close: null,
  first: { at: start + day, stage: first },
  moves: moves.map(([stage, reason], n) => ({
    at: start + (n + 2) * day,
    owner: 1,
    units: 125_000,
    by: 'verb',
    soon: null,
    stage,
    reason,
  })),
})
/** Deals that a random sample may lack. */
const known_deals = [
  known('lost'),
  known('demo', ['lost', 'null']),
  known('new_lead', ['demo', ''], ['proposal', '']),
]

const iso = (ms: number) => new Date(ms).toISOString()
const amountOf = (units: number | null) => (units === null ? null : units / 10_000)
const total = (counts: number[]) => counts.reduce((a, b) => a + b, 0)

async function ok(call: Rapport['call'], method: string, path: string, body?: object) {
  const reply = await call(method, `/api/v1${path}`, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}

type Clock = ReturnType<typeof turnableClock>
type People = (string | null)[]

/** Creates and moves the deals, in the order of the times. */
async function live(call: Rapport['call'], clock: Clock, deals: Deal[], people: People, companies: People) {
  const ids = new Map<Deal, number>()
  const create = async (one: Deal) => {
    const { data } = await ok(call, 'POST', '/deals', {
      name: 'Relaunch',
      owner_id: people[one.owner],
      value: amountOf(one.units),
      stage: one.first.stage,
      probability: one.probability,
      company_id: companies[one.company],
      expected_close_date: one.close === null ? null : iso(start + one.close * day).slice(0, 10),
    })
    ids.set(one, data.id)
  }
  const move = (one: Deal, { stage, reason, by, owner, units }: Deal['moves'][number]) => {
    const body = { stage, ...(stage === 'lost' && { lost_reason: reason }) }
    return by === 'verb'
      ? ok(call, 'POST', `/deals/${ids.get(one)}/change-stage`, body)
      : ok(call, 'PUT', `/deals/${ids.get(one)}`, {
          ...body,
          owner_id: people[owner],
          value: amountOf(units),
        })
  }
  const steps = deals.flatMap((one) => {
    let last_at = one.first.at
    const moves = one.moves.map((next) => {
      last_at = next.soon === null ? Math.max(last_at, next.at) : last_at + next.soon * 60_000
      return { at: last_at, run: () => move(one, next) }
    })
    return [{ at: one.first.at, run: () => create(one) as Promise<unknown> }, ...moves]
  })
  // Steps of one time stay in their order.
  for (const { at, run } of steps.sort((a, b) => a.at - b.at)) {
    clock.advance(Math.max(0, at - clock.now()))
    await run()
  }
  for (const [{ fate }, id] of ids) {
    if (fate !== 'stays') await ok(call, 'DELETE', `/deals/${id}`)
    if (fate === 'restored') await ok(call, 'POST', `/deals/${id}/restore`)
  }
}

async function plan(call: Rapport['call'], now_ms: number, activities: Activity[], people: People) {
  // Around now, too.
  const times = [-1, 0, 1].map((ms) => ({ ...(activities[0] as Activity), due: now_ms + ms, done: null }))
  const all = [...activities, ...times]
  for (let at = 0; at < all.length; at += 1000) {
    const some = all.slice(at, at + 1000)
    const items = some.map(({ owner, type, due, done }) => ({
      op: 'create',
      data: {
        subject: 'Call back',
        type,
        owner_id: people[owner],
        due_at: due === null ? null : iso(due),
        completed_at: done === null ? null : iso(done),
      },
    }))
    const { data } = await ok(call, 'POST', '/activities/batch', { items })
    const gone = some.flatMap(({ fate }, index) => (fate === 'trash' ? [data[index].id] : []))
    if (gone.length)
      await ok(call, 'POST', '/activities/batch', { items: gone.map((id) => ({ op: 'delete', id })) })
  }
}

async function listed(call: Rapport['call'], path: string) {
  const records = []
  for (let cursor: string | null = 'start'; cursor !== null; ) {
    const { data, meta } = await ok(call, 'GET', `${path}?details=true&per_page=100&cursor=${cursor}`)
    records.push(...data)
    cursor = meta.next_cursor
  }
  return records
}

type GroupOfDeals = { value: string | null; count: number; sums: { value: number } }
type ListedDeal = PlainDeal & { company_id: number | null }

/** The deals of the list, with the stages of their histories. */
async function listedDeals(call: Rapport['call']): Promise<ListedDeal[]> {
  const deals: ListedDeal[] = []
  for (const one of await listed(call, '/deals')) {
    const { data } = await ok(call, 'GET', `/deals/${one.id}/stages`)
    deals.push({
      ...one,
      units: BigInt(Math.round((one.value ?? 0) * 10_000)),
      close: one.expected_close_date,
      stays: data.map(({ stage, entered_at }: Record<string, string>) => ({ stage, at: entered_at })),
    })
  }
  return deals
}

/** Compares the reports with the lists, and each of their counts with the list that the web app opens for it. */
async function check(
  call: Rapport['call'],
  now: string,
  { deals, activities, people }: { deals: ListedDeal[]; activities: PlainActivity[]; people: People },
  { zone, owners, before, after, months, ends }: Question,
) {
  const ids = owners.map((index) => people[index] ?? null)
  const owned = ids.length ? `&owner_id=${ids.map(String).join()}` : ''
  const mine = <One extends { owner_id: string | null }>(all: One[]) =>
    all.filter(({ owner_id }) => !owned || ids.includes(owner_id))
  const report = async (name: string, query: string) =>
    (await ok(call, 'GET', `/reports/${name}?${query}`)).data
  const [own_deals, own_activities] = [mine(deals), mine(activities)]
  const finds = async (list: string, filters: Record<string, string>, expected: number, of = owned) => {
    const query = new URLSearchParams({ ...filters, per_page: '1' })
    const { meta } = await ok(call, 'GET', `/${list}?${query}${of}`)
    assert.equal(meta.total, expected, `${query}${of}`)
  }
  const ofOwner = (owner_id: string | null) => `&owner_id=${owner_id}`

  assert.deepEqual(await report('pipeline', owned.slice(1)), plainPipeline(own_deals))
  for (const [by, keyOf] of [
    ['stage', ({ stage }: ListedDeal) => stage],
    ['owner_id', ({ owner_id }: ListedDeal) => owner_id],
    ['expected_close_date', ({ close }: ListedDeal) => close?.slice(0, 7) ?? null],
    ['created_at', ({ created_at }: ListedDeal) => dayIn(zone, created_at).slice(0, 7)],
  ] as const) {
    const { data } = await ok(call, 'GET', `/deals/groups?by=${by}&time_zone=${zone}${owned}`)
    assert.deepEqual(
      new Map(
        data.groups.map(({ value, count, sums }: GroupOfDeals) => [value, { count, value: sums.value }]),
      ),
      new Map(
        [...Map.groupBy(own_deals, keyOf)].map(([key, those]) => [
          key,
          { count: those.length, value: valueIn(those) },
        ]),
      ),
    )
  }
  assert.deepEqual(
    await report('outcomes', `months=${months}&time_zone=${zone}`),
    plainOutcomes(deals, zone, now, months),
  )
  assert.deepEqual(
    await report('activities', `time_zone=${zone}${owned}`),
    plainActivities(own_activities, zone, now),
  )

  const [from = '', to = ''] = ends.map((at) => dayIn(zone, iso(at)))
  const days = `from=${from}&to=${to}&time_zone=${zone}${owned}`
  const { from: _, to: __, from_time, to_time, ...funnel } = await report('funnel', days)
  const created = own_deals.filter(({ created_at }) => {
    const day = dayIn(zone, created_at)
    return day >= from && day <= to
  })
  assert.deepEqual(funnel, plainFunnel(created))
  const in_period = { created_from: from_time, created_to: to_time }
  await finds('deals', in_period, funnel.count)
  for (const [place, { stage, ...counts }] of funnel.stages.entries()) {
    const here = { ...in_period, furthest_stage: stage }
    await finds('deals', { ...here, furthest_stage: open_stages.slice(place).join() }, counts.reached_count)
    await finds('deals', { ...here, status: 'open' }, counts.open_count)
    await finds('deals', { ...here, status: 'lost' }, counts.lost_count)
    for (const { reason, count } of counts.lost_reasons) {
      const lost_reason = writeParts([{ not: false, value: reason }])
      await finds('deals', { ...here, status: 'lost', lost_reason }, count)
    }
  }

  const asked = `months_before=${before}&months_after=${after}&time_zone=${zone}${owned}`
  const forecast = await report('forecast', asked)
  const times = forecast.months.map(({ from_time, to_time }: Record<string, string>) => [from_time, to_time])
  for (const month of forecast.months) {
    delete month.from_time
    delete month.to_time
  }
  assert.deepEqual(forecast, plainForecast(own_deals, { zone, now, before, after }))
  const open = { status: 'open' }
  await finds('deals', { ...open, expected_close_date: 'null' }, forecast.undated.count)
  for (const [index, { month, count, won_count, owners: lines }] of forecast.months.entries()) {
    const [closed_at_from, closed_at_to] = times[index]
    const won = { status: 'won', closed_at_from, closed_at_to }
    await finds('deals', won, won_count)
    const last = `${month}-${new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()}`
    if (last < forecast.today) continue
    const first = `${month}-01` > forecast.today ? `${month}-01` : forecast.today
    const expected = { ...open, expected_close_from: first, expected_close_to: last }
    await finds('deals', expected, count)
    for (const line of lines) {
      await finds('deals', expected, line.count, ofOwner(line.owner_id))
      await finds('deals', won, line.won_count, ofOwner(line.owner_id))
    }
  }
  for (const { owner_id, weighted_value, count } of forecast.owners) {
    const { total_open } = await report('pipeline', `owner_id=${owner_id}`)
    assert.deepEqual([total_open.weighted_value, total_open.count], [weighted_value, count])
  }

  // At most a year.
  const since = dayIn(zone, iso(Math.max(ends[0] as number, (ends[1] as number) - 360 * day)))
  const { from: ___, to: ____, ...answer } = await report('people', days.replace(from, since))
  const { from_time: due_at_from, to_time: due_at_to, ...activity } = answer
  assert.deepEqual(activity, plainPeople(own_activities, { zone, from: since, to, now }))
  for (const { owner_id, types } of activity.people)
    for (const { type, done_count, open_count, overdue_count } of types) {
      const due = { type, due_at_from, due_at_to }
      const done = { type, completed_at_from: due_at_from, completed_at_to: due_at_to }
      await finds('activities', done, done_count, ofOwner(owner_id))
      await finds('activities', { ...due, status: 'open' }, open_count, ofOwner(owner_id))
      await finds('activities', { ...due, status: 'overdue' }, overdue_count, ofOwner(owner_id))
    }
}

test('for records of any shape, every report says what a plain computation from the lists and histories says', async (t) => {
  const clock = turnableClock(start)
  const service = await startRapport({ clock })
  t.after(() => service.close())
  const { call } = service
  const ada = await setUp(service)
  const { id: ada_id } = (await ada('GET', '/session')).body.data.user
  const [member, left] = [await join(ada, service.url, 'member'), await join(ada, service.url, 'member')]
  const people: People = [null, ada_id, member.id, left.id]
  const companies: People = [null]
  for (const name of ['Acme', 'Globex'])
    companies.push((await ok(call, 'POST', '/companies', { name })).data.id)
  const size = 'max'
  await fc.assert(
    fc.asyncProperty(
      fc.array(deal, { minLength: count, maxLength: count, size }),
      fc.array(activity, { minLength: count, maxLength: count, size }),
      fc.array(question, { minLength: 3, maxLength: 3, size }),
      async (deals, activities, questions) => {
        await live(call, clock, [...known_deals, ...deals], people, companies)
        await plan(call, clock.now(), activities, people)
        const { call: owner } = await signIn(service.url, 'ada@example.com')
        assert.equal((await owner('DELETE', `/members/${left.id}`)).status, 200)
        const found = {
          deals: await listedDeals(call),
          activities: await listed(call, '/activities'),
          people,
        }
        // The records are of all kinds, or nothing was tested.
        assert.ok(found.deals.length > count / 2)
        assert.ok(total(found.deals.map((one) => Number(furthestOf(one) > 0 && one.stage === 'lost'))) > 0)
        assert.ok(found.deals.some(({ lost_reason }) => lost_reason === 'null'))
        assert.ok(found.deals.some((one) => one.stage === 'lost' && one.lost_reason === null))
        assert.ok(found.deals.some((one) => one.stays.length > 2 && statusOf(one.stage) === 'open'))
        for (const asked of questions) await check(call, iso(clock.now()), found, asked)
        for (const company_id of companies.slice(1)) {
          const { data } = await ok(call, 'GET', `/reports/pipeline?company_id=${company_id}`)
          const own = found.deals.filter((one) => one.company_id === Number(company_id))
          assert.deepEqual(data, plainPipeline(own))
        }
      },
    ),
    // One history of many records. A smaller one would need another service.
    { numRuns: 1, endOnFailure: true },
  )
})
