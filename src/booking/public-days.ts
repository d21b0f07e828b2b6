import { Temporal } from 'temporal-polyfill'
import type { Slot } from './availability.ts'

/** How a visitor reads dates and times: the words' locale and the zone. */
export type Reader = { locale: string; zone: string }

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf({ locale, zone }: Reader, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${zone} ${JSON.stringify(options)}`
  let formatter = formatters.get(key)
  if (!formatter) {
    // Visitors choose the zone: forget before the map grows large.
    if (formatters.size > 500) formatters.clear()
    formatter = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
    formatters.set(key, formatter)
  }
  return formatter
}
const formatted = (ms: number, reader: Reader, options: Intl.DateTimeFormatOptions) =>
  formatterOf(reader, options).format(ms)

const weekday_and_day = { weekday: 'long', day: 'numeric', month: 'long' } as const

/** The English in which a visitor reads dates, by Accept-Language; the day comes first where nothing is said. */
export const localeOf = (accepted: string | undefined): string =>
  /(?:^|,)\s*(en-[a-z]{2})\b/i.exec(accepted ?? '')?.[1] ?? 'en-GB'

/** 09:30 or 9:30 AM. */
export const timeOf = (ms: number, reader: Reader) => formatted(ms, reader, { timeStyle: 'short' })
/** Wednesday 25 November 2026. */
export const dateOf = (ms: number, reader: Reader) =>
  formatted(ms, reader, { ...weekday_and_day, year: 'numeric' })
const shortDateOf = (ms: number, reader: Reader) => formatted(ms, reader, weekday_and_day)
/** GMT+1: the zone's difference at that time. */
export const offsetOf = (ms: number, reader: Reader) =>
  formatterOf(reader, { timeZoneName: 'shortOffset' })
    .formatToParts(ms)
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''
export const zoneName = (zone: string) => zone.replaceAll('_', ' ')

/** 09:30–10:00, with the later day where it ends on one. */
export function spanOf({ start_at, end_at }: Slot, reader: Reader): string {
  const [start, end] = [Date.parse(start_at), Date.parse(end_at)]
  if (dateOf(start, reader) === dateOf(end, reader))
    return formatterOf(reader, { timeStyle: 'short' }).formatRange(start, end)
  return `${timeOf(start, reader)}–${timeOf(end, reader)} (${shortDateOf(end, reader)})`
}

/** Times with their labels: one that comes twice on a day, as the clock goes back, also tells its offset. */
export function labelled(slots: readonly Slot[], reader: Reader, labelOf = timeOf) {
  const labels = slots.map(({ start_at }) => labelOf(Date.parse(start_at), reader))
  return slots.map(({ start_at }, i) => {
    const label = labels[i] as string
    const twice = labels.indexOf(label) !== labels.lastIndexOf(label)
    return { start_at, label: twice ? `${label} ${offsetOf(Date.parse(start_at), reader)}` : label }
  })
}

/** Wednesday 25 November, 09:30. */
export const dayAndTimeOf = (ms: number, reader: Reader) =>
  `${shortDateOf(ms, reader)}, ${timeOf(ms, reader)}`

/** A month, YYYY-MM, as it is in a zone. */
export type Month = { month: string; name: string; from_ms: number; to_ms: number }
export type Day = { date: string; number: number; name: string; slots: Slot[] }

/** The day that a time is on, YYYY-MM-DD. */
export const dayOf = (ms: number, { zone }: Reader): string =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(zone).toPlainDate().toString()

const startOf = (date: Temporal.PlainDate, zone: string) => date.toZonedDateTime(zone).epochMilliseconds
const isoStart = (date: Temporal.PlainDate, zone: string) => new Date(startOf(date, zone)).toISOString()

/** The month that a time is in; `by` months later or earlier. */
export const monthOf = (ms: number, reader: Reader, by = 0): string =>
  Temporal.PlainDate.from(dayOf(ms, reader)).toPlainYearMonth().add({ months: by }).toString()

/** Its name and its bounds. */
export function readMonth(month: string, { locale, zone }: Reader): Month {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  // Noon, by no zone's clock: the name of the month itself.
  const name = formatted(
    Date.parse(`${month}-01T12:00:00Z`),
    { locale, zone: 'UTC' },
    { month: 'long', year: 'numeric' },
  )
  return { month, name, from_ms: startOf(first, zone), to_ms: startOf(first.add({ months: 1 }), zone) }
}

/** Every day of a month, with the slots that start on it in the zone. `slots` are those of the month, in order. */
export function daysOf(month: string, slots: readonly Slot[], reader: Reader): Day[] {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  return Array.from({ length: first.daysInMonth }, (_, i) => {
    const date = first.add({ days: i })
    // As texts, whose order is that of time.
    const [from = '', to = ''] = [date, date.add({ days: 1 })].map((day) => isoStart(day, reader.zone))
    const name = shortDateOf(Date.parse(`${date}T12:00:00Z`), { ...reader, zone: 'UTC' })
    const within = slots.filter(({ start_at }) => start_at >= from && start_at < to)
    return { date: date.toString(), number: i + 1, name, slots: within }
  })
}

/** How many cells of a week that begins on Monday come before the month's first day. */
export const daysBefore = (month: string) =>
  Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 }).dayOfWeek - 1
