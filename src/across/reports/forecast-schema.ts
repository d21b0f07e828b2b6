import { type Static, Type } from 'typebox'
import { Exact, Titled } from '../../http/fields.ts'
import { time_zone } from '../../resources/values/time-zone.ts'
import { Count, LineOwner, omitted_owners, owner_id, sums, Value } from './fields.ts'
import { ShownDay } from './period.ts'

const open = {
  ...sums,
  count: Count('Open deals that are expected to close then, including those without a value.'),
}
const won = {
  won_count: Count('Deals that were won in the month.'),
  won_value: Value('The sum of their values.'),
}
const about_owners = 'The same by owner: first those with the most deals in the report.'

const ForecastMonth = Titled('ForecastMonth', {
  month: Type.String({ pattern: '^\\d{4}-\\d{2}$', examples: ['2026-12'] }),
  from_time: Type.String({ format: 'date-time', description: 'The start of the month, in UTC.' }),
  to_time: Type.String({ format: 'date-time', description: 'Its last millisecond, in UTC.' }),
  ...open,
  ...won,
  owners: Type.Array(Titled('ForecastOfOwner', { owner_id: LineOwner, ...open, ...won }), {
    description: about_owners,
  }),
})
export type ForecastMonth = Static<typeof ForecastMonth>

const Bucket = Titled(
  'ForecastBucket',
  {
    ...open,
    owners: Type.Array(Titled('ForecastBucketOfOwner', { owner_id: LineOwner, ...open }), {
      description: about_owners,
    }),
  },
  { description: 'Open deals outside of the months.' },
)
const OwnerTotal = Titled('ForecastTotalOfOwner', {
  owner_id: LineOwner,
  ...sums,
  won_count: Count('Deals that were won in the months of the report.'),
  won_value: won.won_value,
})
export const Forecast = Titled(
  'ForecastReport',
  {
    today: ShownDay('The current day of the time zone.', ['2026-11-23']),
    overdue: Bucket,
    months: Type.Array(ForecastMonth, {
      description: 'Oldest first. The current month has open deals from today on.',
    }),
    later: Bucket,
    undated: Bucket,
    total_open: Titled('ForecastTotal', sums, {
      description: 'All open deals: the sum of overdue, months, later and undated.',
    }),
    owners: Type.Array(OwnerTotal, {
      description:
        'All parts by owner: first those with the most deals. Each weighted value is rounded once, so it is not the sum of those of the parts.',
    }),
    omitted_owners,
  },
  {
    description:
      'Open deals are in `overdue` if they were expected to close before today, in a month, in `later` after these months, or in `undated` without a date.',
  },
)
export type Forecast = Static<typeof Forecast>

export const ForecastQuery = Exact({
  months_before: Type.Integer({
    minimum: 0,
    maximum: 24,
    default: 2,
    description: 'Months before the current one. Only won deals are in them.',
  }),
  months_after: Type.Integer({
    minimum: 0,
    maximum: 24,
    default: 5,
    description: 'Months after the current one.',
  }),
  time_zone,
  owner_id,
})
