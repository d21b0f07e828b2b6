import {
  type Availability,
  type Busy,
  clearOf,
  type Interval,
  isFreeSlot as isFreeWhere,
  type PageRules,
  type Slot,
  type SlotWindow,
  freeSlots as slotsWhere,
  weekdays,
} from '../../src/resources/booking-pages/availability.ts'

// Shared parts of the tests of a booking page's rules.

export const minute = 60_000
export const hour = 60 * minute
export const whole_day = [{ from: '00:00', to: '24:00' }]
export const span = (text: string): Interval[] =>
  text.split(' ').map((part) => ({ from: part.slice(0, 5), to: part.slice(6) }))
export const everyDay = (intervals: Interval[]): Availability =>
  Object.fromEntries(weekdays.map((weekday) => [weekday, intervals]))

export const page = (changes: Partial<PageRules> = {}): PageRules => ({
  duration_minutes: 30,
  buffer_minutes: 0,
  minimum_notice_minutes: 0,
  horizon_days: 60,
  time_zone: 'Europe/Berlin',
  availability: everyDay(whole_day),
  date_overrides: {},
  ...changes,
})
export const at = (text: string) => Date.parse(text)
export const starts = (slots: Slot[]) => slots.map(({ start_at }) => start_at)
/** The slots of a calendar that is taken at some times. */
export const freeSlots = (rules: PageRules, busy: readonly Busy[], window: SlotWindow) =>
  slotsWhere(rules, clearOf(busy), window)
export const isFreeSlot = (rules: PageRules, busy: readonly Busy[], start_ms: number, now_ms: number) =>
  isFreeWhere(rules, clearOf(busy), start_ms, now_ms)
/** The slots of one day that alone is open, seen from a week before. */
export function onDay(
  time_zone: string,
  date: string,
  intervals: Interval[],
  changes: Partial<PageRules> = {},
) {
  const rules = page({ time_zone, availability: {}, date_overrides: { [date]: intervals }, ...changes })
  const now_ms = at(`${date}T00:00:00Z`) - 168 * hour
  return freeSlots(rules, [], { from_ms: now_ms, to_ms: now_ms + 400 * hour, now_ms })
}
export const iso = (text: string) => `${text}:00.000Z`
