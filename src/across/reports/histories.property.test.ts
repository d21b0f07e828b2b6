import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { join, setUp } from '../../../test/people.ts'
import { open_stages, type Stage, shownProbability, stages, statusOf } from '../../resources/deals/stages.ts'

const hour = 3_600_000
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland']
const types = ['call', 'email', 'meeting', 'task', 'other'] as const
const reasons = ['Price', 'Kein Budget für 2027', 'Chose a competitor']

/** What happens to one of the deals and activities of a history, after some hours. */
const step = fc.record({
  hours: fc.oneof(fc.nat(48), fc.nat(900)),
  owner: fc.nat(2),
  // Some deals move often, and return to a stage.
  which: fc.oneof(fc.nat(1), fc.nat(30)),
  action: fc.constantFrom('create', 'create', 'move', 'move', 'move', 'trash', 'plan', 'plan', 'complete'),
  stage: fc.oneof(
    fc.constantFrom('demo', 'proposal', 'lost'),
    fc.constantFrom(...stages),
  ) as fc.Arbitrary<Stage>,
  reason: fc.constantFrom(...reasons),
  type: fc.constantFrom(...types),
  units: fc.option(fc.nat(50_000_000)),
  probability: fc.option(fc.integer({ min: 0, max: 100 })),
  // Days from the creation until the deal is to be closed, or the activity to be done.
  days: fc.option(fc.integer({ min: -40, max: 120 })),
})
type Deal = {
  id: number
  owner_id: string | null
  created_at: string
  stays: { stage: Stage; at: string }[]
  lost_reason: string | null
  units: number
  probability: number | null
  close: string | null
}
type Activity = {
  id: number
  owner_id: string | null
  type: (typeof types)[number]
  due_at: string | null
  completed_at: string | null
}
type Asked = { zone: string; owner: string | undefined; from: string; to: string }

/** The calendar day of a time in a zone, without the code of the reports. */
const dayIn = (zone: string, time: string) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(new Date(time))
const rate = (part: number, whole: number) => (whole ? Math.round((part * 10_000) / whole) / 10_000 : null)
const days = (ms: number) => Math.round((ms * 100) / (24 * hour)) / 100
const money = (units: number) => units / 10_000
const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)

function medianOf(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2
    ? (sorted[Math.floor(middle)] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** The funnel, stage by stage, by its definitions in docs/reports.md. */
function plainFunnel(deals: Deal[]) {
  const stageOf = ({ stays }: Deal) => stays.at(-1)?.stage as Stage
  const furthest = ({ stays }: Deal) =>
    Math.max(
      ...stays.map(({ stage }) =>
        stage === 'won' ? 5 : Math.max(0, (open_stages as readonly Stage[]).indexOf(stage)),
      ),
    )
  const status = (wanted: string) => deals.filter((deal) => statusOf(stageOf(deal)) === wanted)
  const won = status('won')
  const reached = (place: number) => deals.filter((deal) => furthest(deal) >= place).length
  return {
    count: deals.length,
    open_count: status('open').length,
    won_count: won.length,
    lost_count: status('lost').length,
    win_rate: rate(won.length, won.length + status('lost').length),
    stages: open_stages.map((stage, place) => {
      const further = place === 5 ? won.length : reached(place + 1)
      const times = deals
        .filter((deal) => stageOf(deal) !== stage && deal.stays.some((stay) => stay.stage === stage))
        .map(({ stays }) =>
          sum(
            stays.flatMap((stay, index) => {
              const next = stays[index + 1]
              return stay.stage === stage && next ? [Date.parse(next.at) - Date.parse(stay.at)] : []
            }),
          ),
        )
      const lost = status('lost').filter((deal) => furthest(deal) === place)
      return {
        stage,
        reached_count: reached(place),
        conversion_to_next: rate(further, reached(place)),
        conversion_to_won: rate(won.length, reached(place)),
        open_count: status('open').filter((deal) => furthest(deal) === place).length,
        lost_count: lost.length,
        left_count: times.length,
        median_days: times.length ? days(medianOf(times)) : null,
        mean_days: times.length ? days(sum(times) / times.length) : null,
        lost_reasons: [...new Set(lost.map(({ lost_reason }) => lost_reason))]
          .map((reason) => ({ reason, count: lost.filter((deal) => deal.lost_reason === reason).length }))
          .sort((a, b) => b.count - a.count || ((a.reason ?? '') < (b.reason ?? '') ? -1 : 1)),
      }
    }),
  }
}

/** The lines of a report by owner: those with the most records first. */
function byOwner<One extends { owner_id: string | null }, Line>(
  all: One[],
  own: One[],
  lineOf: (those: One[]) => Line,
) {
  const size = (owner: string | null) => all.filter(({ owner_id }) => owner_id === owner).length
  return [...new Set(own.map(({ owner_id }) => owner_id))]
    .sort((a, b) => size(b) - size(a) || ((a ?? '') < (b ?? '') ? -1 : 1))
    .map((owner_id) => ({ owner_id, ...lineOf(own.filter((one) => one.owner_id === owner_id)) }))
}

function plainForecast(deals: Deal[], zone: string, now: string) {
  const today = dayIn(zone, now)
  const open = deals.filter(({ stays }) => statusOf(stays.at(-1)?.stage as Stage) === 'open')
  const won = deals.filter(({ stays }) => stays.at(-1)?.stage === 'won')
  const wonIn = (month: string) =>
    won.filter(({ stays }) => dayIn(zone, stays.at(-1)?.at as string).startsWith(month))
  const index = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1
  const name = (n: number) => `${Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}`
  const months = Array.from({ length: 8 }, (_, n) => name(index(today.slice(0, 7)) - 2 + n))
  const last = months.at(-1) as string
  const sums = (those: Deal[]) => {
    const weighted = those.map(({ units, probability, stays }) => {
      const stage = stays.at(-1)?.stage as Stage
      return units * shownProbability({ stage, own_probability: probability, closed_probability: null })
    })
    return {
      count: those.length,
      value: money(sum(those.map(({ units }) => units))),
      weighted_value: money(Math.floor((sum(weighted) + 50) / 100)),
    }
  }
  const counted = [...open, ...months.flatMap(wonIn)]
  const bucket = (those: Deal[]) => ({ ...sums(those), owners: byOwner(counted, those, sums) })
  return {
    today,
    overdue: bucket(open.filter(({ close }) => close !== null && close < today)),
    months: months.map((month) => {
      const expected = open.filter(({ close }) => close !== null && close >= today && close.startsWith(month))
      const both = (those: Deal[]) => ({
        ...sums(those.filter((deal) => expected.includes(deal))),
        won_count: those.filter((deal) => wonIn(month).includes(deal)).length,
        won_value: money(sum(those.filter((deal) => wonIn(month).includes(deal)).map(({ units }) => units))),
      })
      const those = [...expected, ...wonIn(month)]
      return { month, ...both(those), owners: byOwner(counted, those, both) }
    }),
    later: bucket(open.filter(({ close }) => close !== null && close.slice(0, 7) > last)),
    undated: bucket(open.filter(({ close }) => close === null)),
    total_open: sums(open),
    omitted_owners: 0,
  }
}

function plainPeople(activities: Activity[], { zone, from, to }: Asked, now: string) {
  const within = (time: string | null) =>
    time !== null && dayIn(zone, time) >= from && dayIn(zone, time) <= to
  const done = (one: Activity) => within(one.completed_at)
  const open = (one: Activity) => one.completed_at === null && within(one.due_at)
  const counts = (those: Activity[]) => ({
    done_count: those.filter(done).length,
    open_count: those.filter(open).length,
    overdue_count: those.filter((one) => open(one) && (one.due_at ?? now) < now).length,
  })
  const shown = (those: Activity[]) => ({
    ...counts(those),
    types: types.flatMap((type) => {
      const own = those.filter((one) => one.type === type)
      return own.length ? [{ type, ...counts(own) }] : []
    }),
  })
  const counted = activities.filter((one) => done(one) || open(one))
  return { ...shown(counted), people: byOwner(counted, counted, shown), omitted_owners: 0 }
}

const ok = async (call: Rapport['call'], method: string, path: string, body?: object) => {
  const reply = await call(method, `/api/v1${path}`, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}

test('for any history, the reports say what a plain recomputation says, and lists find as many records', async (t) => {
  const clock = turnableClock(Date.parse('2026-01-20T00:00:00Z'))
  const service = await startRapport({ clock, env: { RATE_LIMIT_PER_SECOND: '0' } })
  t.after(() => service.close())
  const ada = await setUp(service)
  const { id: ada_id } = (await ada('GET', '/session')).body.data.user
  const owners = [null, ada_id, (await join(ada, service.url, 'member')).id]
  // A session would expire in the months of a history.
  const { call } = service

  const asked = fc.record({
    zone: fc.constantFrom(...zones),
    owner: fc.nat(5),
    ends: fc.tuple(fc.nat(80), fc.integer({ min: 80, max: 360 })),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 25, maxLength: 45, size: 'max' }),
      fc.array(asked, { minLength: 3, maxLength: 3 }),
      async (steps, questions) => {
        const deals: Deal[] = []
        const activities: Activity[] = []
        const trash = async (kind: string, records: { id: number }[], id: number) => {
          await ok(call, 'DELETE', `/${kind}/${id}`)
          records.splice(
            records.findIndex((one) => one.id === id),
            1,
          )
        }
        for (const { hours, owner, which, action, stage, reason, type, units, probability, days } of steps) {
          clock.advance(hours * hour + which)
          const now = new Date(clock.now()).toISOString()
          const owner_id = owners[owner] ?? null
          const in_days = days === null ? null : new Date(clock.now() + days * 24 * hour).toISOString()
          const deal = deals[which % (deals.length || 1)]
          const activity = activities[which % (activities.length || 1)]
          if (action === 'create') {
            const value = units === null ? null : money(units)
            const close = in_days?.slice(0, 10) ?? null
            const { data } = await ok(call, 'POST', '/deals', {
              ...{ name: 'Relaunch', owner_id, stage, value, expected_close_date: close },
              ...(statusOf(stage) === 'open' && { probability }),
            })
            deals.push({
              ...{ id: data.id, owner_id, created_at: data.created_at, lost_reason: null, close },
              stays: [{ stage, at: now }],
              units: units ?? 0,
              probability: statusOf(stage) === 'open' ? probability : null,
            })
          } else if (action === 'plan') {
            const body = { subject: 'Call back', type, owner_id, due_at: in_days }
            const { data } = await ok(call, 'POST', '/activities', body)
            activities.push({ id: data.id, owner_id, type, due_at: in_days, completed_at: null })
          } else if (action === 'move' && deal && deal.stays.at(-1)?.stage !== stage) {
            const lost_reason = stage === 'lost' ? reason : null
            await ok(call, 'POST', `/deals/${deal.id}/change-stage`, { stage, lost_reason })
            deal.stays.push({ stage, at: now })
            deal.lost_reason = lost_reason
          } else if (action === 'trash' && deal) await trash('deals', deals, deal.id)
          else if (action === 'complete' && activity && !activity.completed_at) {
            await ok(call, 'POST', `/activities/${activity.id}/complete`, {})
            activity.completed_at = now
          }
        }
        clock.advance(1)
        const now = new Date(clock.now()).toISOString()

        for (const { zone, owner, ends } of questions) {
          const owned = owners[owner] === undefined ? '' : `&owner_id=${owners[owner]}`
          const of_owner = <One extends { owner_id: string | null }>(those: One[]) =>
            those.filter(({ owner_id }) => !owned || owner_id === owners[owner])
          const [to, from] = ends
            .toSorted((a, b) => a - b)
            .map((back) => dayIn(zone, new Date(clock.now() - (back - 30) * 24 * hour).toISOString()))
          assert.ok(from && to)
          const period = `from=${from}&to=${to}&time_zone=${zone}${owned}`
          const report = async (name: string, query: string) =>
            (await ok(call, 'GET', `/reports/${name}?${query}`)).data
          const total = async (list: string, query: string) =>
            (await ok(call, 'GET', `/${list}?${query}${owned}&per_page=1`)).meta.total

          const created = of_owner(deals).filter(({ created_at }) => {
            const day = dayIn(zone, created_at)
            return day >= from && day <= to
          })
          const { from: first, to: last, from_time, to_time, ...funnel } = await report('funnel', period)
          assert.deepEqual(funnel, plainFunnel(created))
          assert.deepEqual([first, last], [from, to])
          const in_period = `created_from=${from_time}&created_to=${to_time}`
          assert.equal(await total('deals', in_period), funnel.count)
          for (const [place, { stage, reached_count, open_count, lost_count }] of funnel.stages.entries()) {
            const further = open_stages.slice(place)
            assert.equal(await total('deals', `${in_period}&furthest_stage=${further}`), reached_count)
            if (place % 2) continue
            const here = `${in_period}&furthest_stage=${stage}`
            assert.equal(await total('deals', `${here}&status=open`), open_count)
            assert.equal(await total('deals', `${here}&status=lost`), lost_count)
            assert.equal(
              await total('deals', `${in_period}&furthest_stage=!${stage}`),
              funnel.count - (reached_count - (funnel.stages[place + 1]?.reached_count ?? 0)),
            )
          }

          const { months, ...forecast } = await report('forecast', `time_zone=${zone}${owned}`)
          const { months: plain_months, ...plain } = plainForecast(of_owner(deals), zone, now)
          assert.deepEqual(forecast, plain)
          assert.deepEqual(
            months.map(({ from_time, to_time, ...month }: Record<string, string>) => month),
            plain_months,
          )
          for (const { from_time, to_time, won_count } of months)
            if (won_count)
              assert.equal(
                await total('deals', `status=won&closed_at_from=${from_time}&closed_at_to=${to_time}`),
                won_count,
              )

          const {
            from_time: since,
            to_time: until,
            from: _,
            to: __,
            ...people
          } = await report('people', period)
          assert.deepEqual(people, plainPeople(of_owner(activities), { zone, owner: owned, from, to }, now))
          const due = `due_at_from=${since}&due_at_to=${until}`
          assert.equal(
            await total('activities', `completed_at_from=${since}&completed_at_to=${until}`),
            people.done_count,
          )
          assert.equal(await total('activities', `status=open&${due}`), people.open_count)
          assert.equal(await total('activities', `status=overdue&${due}`), people.overdue_count)
        }
        for (const { id } of [...deals]) await trash('deals', deals, id)
        for (const { id } of [...activities]) await trash('activities', activities, id)
      },
    ),
    // A failure leaves records that would falsify smaller histories.
    { numRuns: 12, endOnFailure: true },
  )
})
