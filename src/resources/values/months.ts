import { Temporal } from 'temporal-polyfill'
import { dayAt, startOfDay } from '../../zones/wall.ts'

/** A calendar month of a zone: YYYY-MM, and its first moment and the next one's, in UTC. */
export type ReportMonth = { month: string; from: string; to: string }

const startOf = (day: Temporal.PlainDate, time_zone: string) =>
  new Date(startOfDay(day.toString(), time_zone)).toISOString()
const today = (now_ms: number, time_zone: string) => Temporal.PlainDate.from(dayAt(now_ms, time_zone))

/** The last `count` calendar months of a zone, oldest first, the current one last. */
export const lastMonths = (count: number, time_zone: string, now_ms: number): ReportMonth[] =>
  monthsAround(count - 1, 0, time_zone, now_ms)

/**
 * The current calendar month of a zone with some before and after it, oldest first. Each begins when its first day does,
 * which is not at 00:00 where the clock skips midnight.
 */
export function monthsAround(
  before: number,
  after: number,
  time_zone: string,
  now_ms: number,
): ReportMonth[] {
  const current = today(now_ms, time_zone).with({ day: 1 })
  return Array.from({ length: before + 1 + after }, (_, index) => {
    const first = current.add({ months: index - before })
    const next = first.add({ months: 1 })
    return {
      month: first.toPlainYearMonth().toString(),
      from: startOf(first, time_zone),
      to: startOf(next, time_zone),
    }
  })
}

/** The first moment of a zone's current day and of the next one, in UTC. */
export function dayOf(time_zone: string, now_ms: number): { from: string; to: string } {
  const day = today(now_ms, time_zone)
  return {
    from: startOf(day, time_zone),
    to: startOf(day.add({ days: 1 }), time_zone),
  }
}

/** The current day of a zone, YYYY-MM-DD. */
export const todayOf = (time_zone: string, now_ms: number): string => today(now_ms, time_zone).toString()

/** The day that is some days after another one, YYYY-MM-DD. */
export const dayAfter = (day: string, days: number): string =>
  Temporal.PlainDate.from(day).add({ days }).toString()

/** The number of days from the first to the last of two days, both included; less than 1 in the wrong order. */
export const daysIn = (first: string, last: string): number =>
  Temporal.PlainDate.from(first).until(last, { largestUnit: 'day' }).days + 1

/** The first and the last millisecond of a zone's days, in UTC. */
export function timesOf(first: string, last: string, time_zone: string): { from: string; to: string } {
  const end_ms = startOfDay(dayAfter(last, 1), time_zone)
  return {
    from: startOf(Temporal.PlainDate.from(first), time_zone),
    to: new Date(end_ms - 1).toISOString(),
  }
}

/** The calendar month that is some months after another one, YYYY-MM. */
export const monthAfter = (month: string, months: number): string =>
  Temporal.PlainYearMonth.from(month).add({ months }).toString()

/** The last day of a calendar month, YYYY-MM-DD. */
export function lastDayOf(month: string): string {
  const { daysInMonth } = Temporal.PlainYearMonth.from(month)
  return `${month}-${daysInMonth}`
}

/** The calendar month of a zone that has a time; of the years after 9999 the last one before. */
export function monthOf(time: string, time_zone: string): string {
  const month = today(Date.parse(time), time_zone).toPlainYearMonth()
  return month.year > 9999 ? '9999-12' : month.toString()
}

/** The first moment of a calendar month of a zone, in UTC. */
export const monthStart = (month: string, time_zone: string): string =>
  startOf(Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 }), time_zone)
