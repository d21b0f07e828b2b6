import { type Static, Type } from 'typebox'
import { Exact, Id, Titled } from '../../http/fields.ts'
import { StageCode, StatusCode } from '../../resources/deals/schema.ts'
import { time_zone } from '../../resources/values/time-zone.ts'
import { Count, owner_id, Rate, sums, Value } from './fields.ts'

export const Pipeline = Titled('PipelineReport', {
  stages: Type.Array(Titled('PipelineStage', { stage: StageCode(), status: StatusCode(), ...sums }), {
    description: 'All eight stages, in their order.',
  }),
  total_open: Titled('PipelineTotal', sums, {
    description: 'The sums of the six open stages.',
  }),
})
export type Pipeline = Static<typeof Pipeline>

const month = {
  won_count: Count(),
  won_value: Value('Sum of the values, as in the pipeline.'),
  lost_count: Count(),
  lost_value: Value('Sum of the values, as in the pipeline.'),
}

export const DealOutcomes = Titled('OutcomesReport', {
  months: Type.Array(
    Titled('MonthOfOutcomes', {
      month: Type.String({ pattern: '^\\d{4}-\\d{2}$', examples: ['2026-11'] }),
      ...month,
    }),
    { description: 'Oldest first. The last month is the current one.' },
  ),
  won_count: Count('In all these months.'),
  lost_count: Count('In all these months.'),
  win_rate: Rate('won_count / (won_count + lost_count)'),
})
export type DealOutcomes = Static<typeof DealOutcomes>

export const OpenActivities = Titled('ActivitiesReport', {
  overdue_count: Count('Activities that were due before now.'),
  today_count: Count('Activities that are due on the current day, including those that are overdue.'),
  upcoming_count: Count('Activities that are due after the current day.'),
})
export type OpenActivities = Static<typeof OpenActivities>

export const PipelineQuery = Exact({
  company_id: Type.Optional(Id()),
  contact_id: Type.Optional(Id()),
  owner_id,
})
export const OutcomesQuery = Exact({
  months: Type.Integer({ minimum: 1, maximum: 36, default: 12 }),
  time_zone,
})
export const OpenActivitiesQuery = Exact({ time_zone, owner_id })
