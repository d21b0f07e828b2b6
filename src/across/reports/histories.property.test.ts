// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { join, setUp } from '../../../test/people.ts'
import {
  activity_types,
  dayIn,
  type PlainActivity,
  type PlainDeal,
  plainForecast,
  plainFunnel,
  plainPeople,
} from '../../../test/plain-reports.ts'
import { runs } from '../../../test/quick.ts'
import { open_stages, type Stage, shownProbability, stages, statusOf } from '../../resources/deals/stages.ts'

const hour = 3_600_000
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland']
const reasons = ['Price', 'Kein Budget für 2027', 'Chose a competitor']

/** A step of a history: it changes a deal or an activity, after some hours. */
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
  type: fc.constantFrom(...activity_types),
  units: fc.option(fc.nat(50_000_000)),
  probability: fc.option(fc.integer({ min: 0, max: 100 })),
  // Days from the creation until the deal is to be closed, or the activity to be done.
  days: fc.option(fc.integer({ min: -40, max: 120 })),
})
type Deal = Omit<PlainDeal, 'units' | 'probability' | 'stage' | 'closed_at'> & {
  id: number
  units: number
  own_probability: number | null
}
type Activity = PlainActivity & { id: number }

const money = (units: number) => units / 10_000

/** A deal as its answer shows it. */
function shownDeal({ units, own_probability, stays, ...deal }: Deal): PlainDeal {
  const { stage, at } = stays.at(-1) as Deal['stays'][number]
  const closed_at = statusOf(stage) === 'open' ? null : at
  const probability = shownProbability({ stage, own_probability, closed_probability: null })
  return { ...deal, stage, stays, closed_at, probability, units: BigInt(units) }
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
              name: 'Relaunch',
              owner_id,
              stage,
              value,
              expected_close_date: close,
              ...(statusOf(stage) === 'open' && { probability }),
            })
            deals.push({
              id: data.id,
              owner_id,
              created_at: data.created_at,
              lost_reason: null,
              close,
              stays: [{ stage, at: now }],
              units: units ?? 0,
              own_probability: statusOf(stage) === 'open' ? probability : null,
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

          const own_deals = of_owner(deals).map(shownDeal)
          const created = own_deals.filter(({ created_at }) => {
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
          const { months: plain_months, ...plain } = plainForecast(own_deals, {
            zone,
            now,
            before: 2,
            after: 5,
          })
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
          assert.deepEqual(people, plainPeople(of_owner(activities), { zone, from, to, now }))
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
    { numRuns: runs(12), endOnFailure: true },
  )
})
