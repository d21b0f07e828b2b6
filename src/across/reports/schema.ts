import { type Static, Type } from 'typebox'
import { Id } from '../../http/fields.ts'
import { StageCode, StatusCode } from '../../resources/deals/schema.ts'
import { valuesFilter } from '../../resources/filter-fields.ts'

const Count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description && { description }), examples: [7] })
const Value = (description: string) => Type.Number({ minimum: 0, description, examples: [12500.5] })
const sums = {
  count: Count('The number of deals, including those without a value.'),
  value: Value('The sum of the values. Exact to 4 decimals up to 500 billion, the limit of JSON numbers.'),
  weighted_value: Value(
    'The sum of value × shown probability / 100. Summed exactly, then rounded once to 4 decimals, half up.',
  ),
}

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
    win_rate: Type.Unsafe<number | null>({
      type: ['number', 'null'],
      minimum: 0,
      maximum: 1,
      description: 'won_count / (won_count + lost_count), rounded to 4 decimals; null when both are 0.',
      examples: [0.6364],
    }),
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

const time_zone = Type.String({
  default: 'UTC',
  maxLength: 64,
  description: 'The IANA name of the time zone that decides days and months.',
  examples: ['Europe/Berlin'],
})
const only = { additionalProperties: false }
export const PipelineQuery = Type.Object(
  {
    company_id: Type.Optional(Id()),
    contact_id: Type.Optional(Id()),
    owner_id: valuesFilter({ name: 'owner_id', kind: 'member', nullable: true }),
  },
  only,
)
export const OutcomesQuery = Type.Object(
  { months: Type.Integer({ minimum: 1, maximum: 36, default: 12 }), time_zone },
  only,
)
export const OpenActivitiesQuery = Type.Object({ time_zone }, only)
