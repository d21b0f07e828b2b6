import { addDays, isDay } from '../app/zones.ts'

/** The periods to choose from. */
export const periods = [
  'last_30',
  'last_90',
  'this_month',
  'last_month',
  'this_quarter',
  'last_quarter',
  'this_year',
  'last_year',
] as const
export type Period = (typeof periods)[number]
export type Days = { from: string; to: string }

const dayOf = (year: number, month: number) => new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10)

/** The days of a period, both included. Periods that are not over end with their last day, because work may be planned. */
export function daysOf(period: Period, today: string): Days {
  const [year = 0, month = 1] = today.split('-').map(Number)
  const months = (first: number, count: number) => ({
    from: dayOf(year, first),
    to: addDays(dayOf(year, first + count), -1),
  })
  const quarter = month - 1 - ((month - 1) % 3)
  if (period === 'last_30') return { from: addDays(today, -29), to: today }
  if (period === 'last_90') return { from: addDays(today, -89), to: today }
  if (period === 'this_month') return months(month - 1, 1)
  if (period === 'last_month') return months(month - 2, 1)
  if (period === 'this_quarter') return months(quarter, 3)
  if (period === 'last_quarter') return months(quarter - 3, 3)
  return months(period === 'this_year' ? 0 : -12, 12)
}

/** The days in the address, if they are a period of at most `max_days`. */
export function ownDays({ from = '', to = '' }: Partial<Days>, max_days: number): Days | null {
  if (!isDay(from) || !isDay(to) || from > to || from < '1970-01-01') return null
  return addDays(from, max_days) > to ? { from, to } : null
}

/** The last day of a month (YYYY-MM). */
export function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return addDays(dayOf(year, number), -1)
}

/** The month (YYYY-MM) a number of months after that of a day. */
export function monthAfter(day: string, months: number): string {
  const [year = 0, month = 1] = day.split('-').map(Number)
  return dayOf(year, month - 1 + months).slice(0, 7)
}
