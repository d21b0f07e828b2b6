import { type Static, Type } from 'typebox'
import { invalid } from '../../errors.ts'
import { Timestamp } from '../../http/fields.ts'
import { dayAfter, daysIn, timesOf, todayOf } from '../../resources/values/months.ts'
import { time_zone, zoneOf } from '../../resources/values/time-zone.ts'

// The days of a report, as the calendar of a time zone has them.

const default_days = 90
// Their first and last moments are times that lists accept, in every zone.
const [first_day, last_day] = ['1970-01-01', '9998-12-31']

const asked = (about: string, examples: string[]) =>
  Type.String({ format: 'day', description: about, examples })
export const ShownDay = (about: string, examples: string[]) =>
  Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: about, examples })

/** The parameters of a period of at most `max_days` days. */
export const periodParameters = (max_days: number) => ({
  from: Type.Optional(
    asked(`The first day, of at most ${max_days} days. Default: ${default_days - 1} days before \`to\`.`, [
      '2026-09-01',
    ]),
  ),
  to: Type.Optional(asked('The last day. Default: today.', ['2026-11-30'])),
  time_zone,
})
type PeriodQuery = { from?: string; to?: string; time_zone: string }

export const period_answer = {
  from: ShownDay('The first day.', ['2026-09-01']),
  to: ShownDay('The last day.', ['2026-11-30']),
  from_time: Timestamp({ description: 'The start of the first day, in UTC.' }),
  to_time: Timestamp({
    description:
      'The last millisecond of the last day, in UTC. Ranges of lists from `from_time` to `to_time` have the same records.',
  }),
}
const PeriodAnswer = Type.Object(period_answer)

/** The days of a query with their times. Throws 422 for days in the wrong order and for more than `max_days`. */
export function periodOf(query: PeriodQuery, max_days: number, now_ms: number): Static<typeof PeriodAnswer> {
  const zone = zoneOf(query)
  const to = query.to ?? todayOf(zone, now_ms)
  refuse('to', to < first_day || to > last_day, `must be from ${first_day} to ${last_day}`)
  const from = query.from ?? dayAfter(to, 1 - default_days)
  refuse('from', from < first_day || from > to, `must be from ${first_day} to the day of \`to\``)
  refuse('from', daysIn(from, to) > max_days, `must be at most ${max_days - 1} days before \`to\``)
  const times = timesOf(from, to, zone)
  return { from, to, from_time: times.from, to_time: times.to }
}

function refuse(field: 'from' | 'to', wrong: boolean, text: string): void {
  if (wrong) throw invalid([{ field, code: 'out_of_range', message: `${field} ${text}.` }])
}
