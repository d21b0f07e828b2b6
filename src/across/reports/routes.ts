import type { Static } from 'typebox'
import { isoTime } from '../../clock.ts'
import { Single, single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { activities } from '../../resources/activities/resource.ts'
import { deals } from '../../resources/deals/resource.ts'
import { stageSettings } from '../../resources/deals/settings.ts'
import { type Stage, statusOf } from '../../resources/deals/stages.ts'
import { requestOf } from '../../resources/lists/list.ts'
import { dayOf, lastMonths, monthsAround, type ReportMonth, todayOf } from '../../resources/values/months.ts'
import { decimalOf, hundredth } from '../../resources/values/sums.ts'
import { zoneOf } from '../../resources/values/time-zone.ts'
import { rateOf } from './fields.ts'
import { forecastOf } from './forecast.ts'
import { Forecast, ForecastQuery } from './forecast-schema.ts'
import { funnelOf } from './funnel.ts'
import { Funnel, FunnelQuery, max_days as max_days_of_funnel } from './funnel-schema.ts'
import { activitiesByPerson } from './people.ts'
import { max_days as max_days_of_people, PeopleActivities, PeopleQuery } from './people-schema.ts'
import { periodOf } from './period.ts'
import { type ClosedSums, countOpenActivities, outcomesOf, type Sums, sumsOfStages } from './queries.ts'
import {
  DealOutcomes,
  OpenActivities,
  OpenActivitiesQuery,
  OutcomesQuery,
  Pipeline,
  PipelineQuery,
} from './schema.ts'

const path = '/api/v1/reports'
const scope = 'reports:read'

const nothing: Sums = { count: 0, value: 0n, weighted_hundredfold: 0n }
const shown = ({ count, value, weighted_hundredfold }: Sums) => ({
  count,
  value: decimalOf(value),
  weighted_value: decimalOf(hundredth(weighted_hundredfold)),
})

/** Reports of the deals and activities of a workspace. */
export function reportRoutes(app: App, { reading, rights, clock }: Service): void {
  operation(
    app,
    {
      method: 'GET',
      path: `${path}/pipeline`,
      scope,
      summary: 'Sum up the deals of every stage',
      description: 'All live deals, or those of a company, a contact or an owner.',
      query: PipelineQuery,
      answers: { 200: Single(Pipeline) },
    },
    async (request) => {
      const asked = requestOf(deals, request.access, request.query, clock.now())
      return single(
        await reading(async (db) => {
          const { deal_stages } = await stageSettings(db, asked.workspace_id)
          return pipelineOf(
            deal_stages.map(({ stage }) => stage),
            await sumsOfStages(db, asked),
          )
        }),
      )
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/outcomes`,
      scope,
      summary: 'Sum up won and lost deals by month',
      description: 'Live deals, by closed_at.',
      query: OutcomesQuery,
      answers: { 200: Single(DealOutcomes) },
    },
    async (request) => {
      const months = lastMonths(request.query.months, zoneOf(request.query), clock.now())
      const outcomes = await reading((db) => outcomesOf(db, request.access.workspace_id, months))
      return single(outcomesReport(months, outcomes))
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/activities`,
      scope,
      summary: 'Count the open activities by due date',
      description: 'Those of everybody, or of an owner. Activities without a due date are not counted.',
      query: OpenActivitiesQuery,
      answers: { 200: Single(OpenActivities) },
    },
    async ({ access, query }) => {
      const { owner_id } = query
      const at = clock.now()
      const asked = requestOf(activities, access, { ...(owner_id && { owner_id }) }, at)
      const times = { now: isoTime(at), ...dayOf(zoneOf(query), at) }
      return single(await reading((db) => countOpenActivities(db, asked, times)))
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/funnel`,
      scope,
      summary: 'Count how far the deals of a period came',
      description:
        'Live deals, by created_at. A deal that skipped a stage has passed it. docs/reports.md has all definitions.',
      query: FunnelQuery,
      answers: { 200: Single(Funnel) },
    },
    async ({ access, query: { owner_id, ...days } }) => {
      const period = periodOf(days, max_days_of_funnel, clock.now())
      const asked = requestOf(deals, access, { ...(owner_id && { owner_id }) }, clock.now())
      const shown = { reasons: rights.mayRead(access.scopes, deals.table) }
      return single({ ...period, ...(await reading((db) => funnelOf(db, asked, period, shown))) })
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/forecast`,
      scope,
      summary: 'Sum up the open deals by expected month and owner',
      description: 'Live deals, with the deals that were won in the same months.',
      query: ForecastQuery,
      answers: { 200: Single(Forecast) },
    },
    async ({ access, query }) => {
      const { owner_id, months_before, months_after } = query
      const [zone, at] = [zoneOf(query), clock.now()]
      const asked = requestOf(deals, access, { ...(owner_id && { owner_id }) }, at)
      const months = monthsAround(months_before, months_after, zone, at)
      return single(await reading((db) => forecastOf(db, asked, months, todayOf(zone, at))))
    },
  )

  operation(
    app,
    {
      method: 'GET',
      path: `${path}/people`,
      scope,
      summary: 'Count the activities of a period by person',
      description: 'Live activities, by owner and type. Open activities without a due date are not counted.',
      query: PeopleQuery,
      answers: { 200: Single(PeopleActivities) },
    },
    async ({ access, query: { owner_id, ...days } }) => {
      const period = periodOf(days, max_days_of_people, clock.now())
      const asked = requestOf(activities, access, { ...(owner_id && { owner_id }) }, clock.now())
      return single({ ...period, ...(await reading((db) => activitiesByPerson(db, asked, period))) })
    },
  )
}

function pipelineOf(stages: readonly Stage[], sums_of_stages: Map<string, Sums>): Static<typeof Pipeline> {
  const of_stages = stages.map((stage) => ({
    stage,
    status: statusOf(stage),
    sums: sums_of_stages.get(stage) ?? nothing,
  }))
  const open = of_stages.filter(({ status }) => status === 'open').map(({ sums }) => sums)
  const total = open.reduce((sum, next) => ({
    count: sum.count + next.count,
    value: sum.value + next.value,
    weighted_hundredfold: sum.weighted_hundredfold + next.weighted_hundredfold,
  }))
  return {
    stages: of_stages.map(({ stage, status, sums }) => ({ stage, status, ...shown(sums) })),
    total_open: shown(total),
  }
}

function outcomesReport(
  months: readonly ReportMonth[],
  outcomes: readonly { won: ClosedSums; lost: ClosedSums }[],
): DealOutcomes {
  const won_count = outcomes.reduce((sum, { won }) => sum + won.count, 0)
  const lost_count = outcomes.reduce((sum, { lost }) => sum + lost.count, 0)
  return {
    months: outcomes.map(({ won, lost }, index) => ({
      month: months[index]?.month ?? '',
      won_count: won.count,
      won_value: decimalOf(won.value),
      lost_count: lost.count,
      lost_value: decimalOf(lost.value),
    })),
    won_count,
    lost_count,
    win_rate: rateOf(won_count, won_count + lost_count),
  }
}
