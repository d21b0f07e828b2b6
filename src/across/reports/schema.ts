import { type Static, Type } from 'typebox'
import { Id } from '../../http/fields.ts'
import { StageCode, StatusCode } from '../../resources/deals/schema.ts'
import { time_zone } from '../../resources/values/time-zone.ts'
import { Count, only, owner_id, Rate, sums, Value } from './fields.ts'

export const Pipeline = Type.Object(
  {
    stages: Type.Array(
      Type.Object({ stage: StageCode(), status: StatusCode(), ...sums }, { title: 'PipelineStage' }),
      { description: 'All eight stages, in their order.' },
    ),
    total_open: Type.Object(sums, {
      title: 'PipelineTotal',
      description: 'The sums of the six open stages.',
    }),
  },
  { title: 'PipelineReport' },
)
export type Pipeline = Static<typeof Pipeline>

const month = {
  won_count: Count(),
  won_value: Value('Sum of the values, as in the pipeline.'),
  lost_count: Count(),
  lost_value: Value('Sum of the values, as in the pipeline.'),
}

export const DealOutcomes = Type.Object(
  {
    months: Type.Array(
      Type.Object(
        { month: Type.String({ pattern: '^\\d{4}-\\d{2}$', examples: ['2026-11'] }), ...month },
        { title: 'MonthOfOutcomes' },
      ),
      { description: 'Oldest first. The last month is the current one.' },
    ),
    won_count: Count('In all these months.'),
    lost_count: Count('In all these months.'),
    win_rate: Rate('won_count / (won_count + lost_count)'),
  },
  { title: 'OutcomesReport' },
)
export type DealOutcomes = Static<typeof DealOutcomes>

export const OpenActivities = Type.Object(
  {
    overdue_count: Count('Activities that were due before now.'),
    today_count: Count('Activities that are due on the current day, including those that are overdue.'),
    upcoming_count: Count('Activities that are due after the current day.'),
  },
  { title: 'ActivitiesReport' },
)
export type OpenActivities = Static<typeof OpenActivities>

export const PipelineQuery = Type.Object(
  {
    company_id: Type.Optional(Id()),
    contact_id: Type.Optional(Id()),
    owner_id,
  },
  only,
)
export const OutcomesQuery = Type.Object(
  { months: Type.Integer({ minimum: 1, maximum: 36, default: 12 }), time_zone },
  only,
)
export const OpenActivitiesQuery = Type.Object({ time_zone, owner_id }, only)
