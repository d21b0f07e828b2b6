import { addDays, startOfDay } from '../app/zones.ts'

/** The views of the calendar. `year` is a list of twelve months, for filters that leave few appointments. */
export type CalendarShow = 'month' | 'week' | 'day' | 'list' | 'year'

/** The days of a view, and those that it draws: a month begins and ends with whole weeks. `last` is not in it. */
export type Days = { first: string; last: string; drawn_first: string; drawn_last: string }

type Week = { firstDay: number; weekend: number[] }

/** The week of a locale, as browsers know it; 1 is Monday, and 7 Sunday. */
function weekIn(locale: string): Week {
  const known = new Intl.Locale(locale) as Intl.Locale & { getWeekInfo?: () => Week; weekInfo?: Week }
  return known.getWeekInfo?.() ?? known.weekInfo ?? { firstDay: 1, weekend: [6, 7] }
}

/** The first day of the week in a locale; 0 is Sunday. */
export const firstDayOf = (locale: string): number => weekIn(locale).firstDay % 7

/** Whether a day is of the weekend of a locale. */
export const isWeekend = (day: string, locale: string): boolean =>
  weekIn(locale).weekend.some((one) => one % 7 === weekdayOf(day))

const weekdayOf = (day: string): number => new Date(`${day}T00:00Z`).getUTCDay()

/** The first day of the week of a day. */
const weekOf = (day: string, first_day: number): string =>
  addDays(day, -((weekdayOf(day) - first_day + 7) % 7))

/** The first day of the month that is a number of months after that of a day. */
function monthAfter(day: string, months: number): string {
  const [year, month] = day.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}

/** The days of the view that has a day in it. */
export function daysOf(show: CalendarShow, day: string, locale: string): Days {
  const first_day = firstDayOf(locale)
  const span = (first: string, last: string): Days => ({
    first,
    last,
    drawn_first: first,
    drawn_last: last,
  })
  if (show === 'day') return span(day, addDays(day, 1))
  if (show === 'week') {
    const first = weekOf(day, first_day)
    return span(first, addDays(first, 7))
  }
  // The past half and the coming one: a visitor may book an appointment of the next calendar year.
  if (show === 'year') return span(monthAfter(day, -5), monthAfter(day, 7))
  const [first, last] = [monthAfter(day, 0), monthAfter(day, 1)]
  // After the day there is at least a month, also at the end of one.
  if (show === 'list') return span(first, day === first ? last : monthAfter(day, 2))
  return {
    first,
    last,
    drawn_first: weekOf(first, first_day),
    drawn_last: addDays(weekOf(addDays(last, -1), first_day), 7),
  }
}

/** The first day of the view before or after that of a day. */
export function stepFrom(show: CalendarShow, day: string, by: 1 | -1, locale: string): string {
  if (show === 'day') return addDays(day, by)
  if (show === 'year') return monthAfter(day, by * 12)
  if (show === 'list') return monthAfter(day, by)
  const { first, last } = daysOf(show, day, locale)
  return by > 0 ? last : daysOf(show, addDays(first, -1), locale).first
}

/** The time that a view covers, for the API. */
export const timeOf = ({ drawn_first, drawn_last }: Days, zone: string) => ({
  from: startOfDay(drawn_first, zone),
  to: startOfDay(drawn_last, zone),
})

const date = (day: string): Date => new Date(`${day}T00:00Z`)

/** The days of a view in words. */
export function titleOf(show: CalendarShow, { first, last }: Days, locale: string): string {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: 'UTC', year: 'numeric', ...options })
  if (show === 'day') return format({ month: 'long', day: 'numeric' }).format(date(first))
  const range = (options: Intl.DateTimeFormatOptions) =>
    format({ month: 'short', ...options }).formatRange(date(first), date(addDays(last, -1)))
  if (show === 'year') return range({})
  if (show === 'week') return range({ day: 'numeric' })
  return last > monthAfter(first, 1) ? range({}) : format({ month: 'long' }).format(date(first))
}

/** All days from the first one to before the last one. */
export function eachDay(first: string, last: string): string[] {
  const days: string[] = []
  for (let day = first; day < last; day = addDays(day, 1)) days.push(day)
  return days
}

/** Two-digit hours on a 24-hour clock: 09:00, but 9:00 AM. */
export function clockOf(locale: string) {
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  return { hour: hour12 ? ('numeric' as const) : ('2-digit' as const), minute: '2-digit' as const }
}
