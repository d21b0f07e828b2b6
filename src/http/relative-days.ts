import { Temporal } from 'temporal-polyfill'
import { dayAt, startOfDay } from '../zones/wall.ts'

// Days in filters that move with the calendar, such as `this_month` (docs/lists.md, Relative dates).

/** Some days, both included. Without an end, all before or after. */
type Days = { from?: Temporal.PlainDate; to?: Temporal.PlainDate }

const most_days = 4
const word = new RegExp(
  [
    '(?<day>yesterday|today|tomorrow)',
    '(?<which>last|this|next)_(?<unit>week|month|quarter|year)',
    `(?<side>last|next)_(?<days>\\d{1,${most_days}})_days`,
    `more_than_(?<ago>\\d{1,${most_days}})_days_ago`,
    `in_more_than_(?<ahead>\\d{1,${most_days}})_days`,
    '(?<overdue>overdue)',
  ]
    .map((form) => `^${form}$`)
    .join('|'),
)

export const relative_words =
  '`yesterday`, `today`, `tomorrow`; `last_`, `this_` or `next_` with `week`, `month`, `quarter` or `year`; `last_N_days`, `next_N_days`, `more_than_N_days_ago`, `in_more_than_N_days`'

/** Whether a text stands for days that move with the calendar. */
export const isRelative = (text: string): boolean => word.test(text)

const steps = { yesterday: -1, today: 0, tomorrow: 1, last: -1, this: 0, next: 1 } as const
type Step = keyof typeof steps

function daysOf(text: string, today: Temporal.PlainDate): Days {
  const { day, which, unit, side, days, ago, ahead } = word.exec(text)?.groups ?? {}
  const after = (n: number) => today.add({ days: n })
  if (day) return { from: after(steps[day as Step]), to: after(steps[day as Step]) }
  if (side)
    return side === 'last'
      ? { from: after(1 - Number(days)), to: today }
      : { from: today, to: after(Number(days) - 1) }
  if (ago) return { to: after(-Number(ago) - 1) }
  if (ahead) return { from: after(Number(ahead) + 1) }
  if (!which) return { to: after(-1) }
  const months = { month: 1, quarter: 3, year: 12 }[unit as string]
  const start = months
    ? today.with({ day: 1 }).subtract({ months: (today.month - 1) % months })
    : after(1 - today.dayOfWeek)
  const step = (n: number) => start.add(months ? { months: n * months } : { weeks: n })
  const at = steps[which as Step]
  return { from: step(at), to: step(at + 1).subtract({ days: 1 }) }
}

/** The range of a field that a word stands for, in a time zone. Both ends are inclusive. */
export function rangeOf(
  text: string,
  kind: 'day' | 'time',
  { now, time_zone }: { now: string; time_zone: string },
): { from?: string; to?: string } {
  const now_ms = Date.parse(now)
  if (text === 'overdue' && kind === 'time') return { to: new Date(now_ms - 1).toISOString() }
  const { from, to } = daysOf(text, Temporal.PlainDate.from(dayAt(now_ms, time_zone)))
  const start = (day: Temporal.PlainDate) => startOfDay(day.toString(), time_zone)
  const ends = {
    from: from && (kind === 'day' ? from.toString() : new Date(start(from)).toISOString()),
    to: to && (kind === 'day' ? to.toString() : new Date(start(to.add({ days: 1 })) - 1).toISOString()),
  }
  return { ...(ends.from && { from: ends.from }), ...(ends.to && { to: ends.to }) }
}
