import type { Static } from 'typebox'
import { isoTime } from '../../clock.ts'
import { invalid } from '../../errors.ts'
import { Single, single } from '../../http/envelope.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import { canonicalTimeZone } from '../../resources/booking-pages/availability.ts'
import { deals } from '../../resources/deals/resource.ts'
import { stages, statusOf } from '../../resources/deals/stages.ts'
import { requestOf } from '../../resources/list.ts'
import { dayOf, lastMonths, type ReportMonth } from './months.ts'
import { type ClosedSums, countOpenActivities, outcomesOf, type Sums, sumsOfStages } from './queries.ts'
import {
  DealOutcomes,
  OpenActivities,
  OpenActivitiesQuery,
  OutcomesQuery,
  Pipeline,
  PipelineQuery,
} from './schema.ts'
import { decimalOf, hundredth } from './sums.ts'

const path = '/api/v1/reports'
const scope = 'reports:read'

const nothing: Sums = { count: 0, value: 0n, weighted_hundredfold: 0n }
const shown = ({ count, value, weighted_hundredfold }: Sums) => ({
  count,
  value: decimalOf(value),
  weighted_value: decimalOf(hundredth(weighted_hundredfold)),
})

/** Reports of the deals and activities of a workspace. */
export function reportRoutes(app: App, { reading, clock }: Service): void {
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
      extension: true,
    },
    async (request) => {
      const asked = requestOf(deals, request.access, request.query, clock.now())
      return single(pipelineOf(await reading((db) => sumsOfStages(db, asked))))
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
      extension: true,
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
      description: 'Activities without a due date are not counted.',
      query: OpenActivitiesQuery,
      answers: { 200: Single(OpenActivities) },
      extension: true,
    },
    async (request) => {
      const { workspace_id } = request.access
      const at = clock.now()
      const times = { workspace_id, now: isoTime(at), ...dayOf(zoneOf(request.query), at) }
      return single(await reading((db) => countOpenActivities(db, times)))
    },
  )
}

function pipelineOf(sums_of_stages: Map<string, Sums>): Static<typeof Pipeline> {
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
  const all = won_count + lost_count
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
    win_rate: all ? Math.round((won_count * 10_000) / all) / 10_000 : null,
  }
}

/** The canonical name of the requested time zone. Throws 422 for an unknown one. */
function zoneOf({ time_zone }: { time_zone: string }): string {
  const zone = canonicalTimeZone(time_zone)
  if (zone !== null) return zone
  throw invalid([
    {
      field: 'time_zone',
      code: 'unknown_time_zone',
      message: 'time_zone must be the name of an IANA time zone, such as Europe/Berlin, not an offset.',
    },
  ])
}
