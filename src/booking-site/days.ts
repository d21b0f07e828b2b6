import { Temporal } from 'temporal-polyfill'
import type { Slot } from '../resources/booking-pages/availability.ts'
import { dayAt, offsetAt, startOfDay, timesAt, wallAt } from '../zones/wall.ts'

/** The locale and the time zone of a visitor. */
export type Reader = { locale: string; zone: string }

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(
  locale: string,
  offset: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = `${locale} ${offset} ${JSON.stringify(options)}`
  let formatter = formatters.get(key)
  if (!formatter) {
    // Visitors choose the locale, so limit the size of the map.
    if (formatters.size > 500) formatters.clear()
    formatter = new Intl.DateTimeFormat(locale, { ...options, timeZone: offset })
    formatters.set(key, formatter)
  }
  return formatter
}

// Intl has the zone data of Node, so it gets the offset in place of the zone.
const formatterAt = (ms: number, { locale, zone }: Reader, options: Intl.DateTimeFormatOptions) =>
  formatterOf(locale, offsetText(offsetAt(ms, zone)), options)

/** Such as +05:30. Intl takes no seconds. */
function offsetText(offset_ms: number): string {
  const wall = new Date(Math.abs(offset_ms)).toISOString().slice(11, 16)
  return `${offset_ms < 0 ? '-' : '+'}${wall}`
}

const formatted = (ms: number, reader: Reader, options: Intl.DateTimeFormatOptions) =>
  formatterAt(ms, reader, options).format(ms)

const weekday_and_day = { weekday: 'long', day: 'numeric', month: 'long' } as const

/**
 * The locale of a visitor, by the first language of Accept-Language that the pages have. Its region counts for German,
 * and for English only as the first of all languages: a French browser lists American English later. Otherwise en-GB,
 * with the day first and 24 hours.
 */
export function localeOf(accepted = ''): string {
  const wanted = accepted
    .split(',')
    .map((part) => {
      const [language = '', ...parameters] = part.split(';').map((text) => text.trim())
      const [, quality = '1'] = /^q=([\d.]+)$/i.exec(parameters[0] ?? '') ?? []
      return { language, quality: Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    // The sort is stable: languages with the same quality keep their order.
    .sort((a, b) => b.quality - a.quality)
    .map(({ language }) => language)
  const chosen = wanted.find((language) => /^(de|en)(-|$)/i.test(language)) ?? ''
  if (/^de/i.test(chosen)) return /^de-[a-z]{2}$/i.test(chosen) ? chosen : 'de'
  return chosen === wanted[0] && /^en-[a-z]{2}$/i.test(chosen) ? chosen : 'en-GB'
}

/** 09:30 or 9:30 AM. */
export const timeOf = (ms: number, reader: Reader) => formatted(ms, reader, { timeStyle: 'short' })
/** Wednesday 25 November 2026. */
export const dateOf = (ms: number, reader: Reader) =>
  formatted(ms, reader, { ...weekday_and_day, year: 'numeric' })
const shortDateOf = (ms: number, reader: Reader) => formatted(ms, reader, weekday_and_day)
/** GMT+1: the zone's offset at that time. */
export const offsetOf = (ms: number, reader: Reader) =>
  formatterAt(ms, reader, { timeZoneName: 'shortOffset' })
    .formatToParts(ms)
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''
export const zoneName = (zone: string) => zone.replaceAll('_', ' ')

/** Whether the zone's wall clock shows this time twice, because it is set back. */
const isAmbiguous = (ms: number, { zone }: Reader): boolean => timesAt(wallAt(ms, zone), zone).length > 1

/**
 * Such as 09:30–10:00. It has the day of the end if that is later, and both offsets if the clock changes in between.
 */
export function spanOf(slot: Slot, reader: Reader): string {
  const [start, end] = [Date.parse(slot.start_at), Date.parse(slot.end_at)]
  const day = dateOf(start, reader) === dateOf(end, reader) ? '' : ` (${shortDateOf(end, reader)})`
  if (changesIn(slot, reader)) {
    const [from, to] = [start, end].map((ms) => `${timeOf(ms, reader)} ${offsetOf(ms, reader)}`)
    return `${from} – ${to}${day}`
  }
  return day
    ? `${timeOf(start, reader)}–${timeOf(end, reader)}${day}`
    : formatterAt(start, reader, { timeStyle: 'short' }).formatRange(start, end)
}

/** The zone, with the offset if `with_offset` is set or the start or the end is ambiguous. */
export function zoneOfSpan(slot: Slot, reader: Reader, with_offset = false): string {
  const [start, end] = [Date.parse(slot.start_at), Date.parse(slot.end_at)]
  const zone = zoneName(reader.zone)
  if (changesIn(slot, reader)) return zone
  const needed = with_offset || isAmbiguous(start, reader) || isAmbiguous(end, reader)
  return needed ? `${zone} (${offsetOf(start, reader)})` : zone
}

const changesIn = ({ start_at, end_at }: Slot, reader: Reader) =>
  offsetOf(Date.parse(start_at), reader) !== offsetOf(Date.parse(end_at), reader)

/** Times with their labels. The label of an ambiguous time has its offset. */
export const labelled = (slots: readonly Slot[], reader: Reader, labelOf = timeOf) =>
  slots.map(({ start_at }) => {
    const ms = Date.parse(start_at)
    const label = labelOf(ms, reader)
    return { start_at, label: isAmbiguous(ms, reader) ? `${label} ${offsetOf(ms, reader)}` : label }
  })

/** Wednesday 25 November, 09:30. */
export const dayAndTimeOf = (ms: number, reader: Reader) =>
  `${shortDateOf(ms, reader)}, ${timeOf(ms, reader)}`

/** A month (YYYY-MM) in a zone. */
export type Month = { month: string; name: string; from_ms: number; to_ms: number }
export type Day = { date: string; number: number; name: string; slots: Slot[] }

/** The day of a time, YYYY-MM-DD. */
export const dayOf = (ms: number, { zone }: Reader): string => dayAt(ms, zone)

const startOf = (date: Temporal.PlainDate, zone: string) => startOfDay(date.toString(), zone)
const isoStart = (date: Temporal.PlainDate, zone: string) => new Date(startOf(date, zone)).toISOString()

/** The month of a time, plus `by` months. */
export const monthOf = (ms: number, reader: Reader, by = 0): string =>
  Temporal.PlainDate.from(dayOf(ms, reader)).toPlainYearMonth().add({ months: by }).toString()

/** The end of the day that is `days` days after today in a zone. */
export const endOfDay = (now_ms: number, zone: string, days: number): number =>
  startOf(Temporal.PlainDate.from(dayAt(now_ms, zone)).add({ days: days + 1 }), zone)

/** The name and the bounds of a month. */
export function readMonth(month: string, { locale, zone }: Reader): Month {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 })
  // Noon in UTC: the name must not depend on the reader's zone.
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
    // ISO texts sort by time.
    const [from = '', to = ''] = [date, date.add({ days: 1 })].map((day) => isoStart(day, reader.zone))
    const name = shortDateOf(Date.parse(`${date}T12:00:00Z`), { ...reader, zone: 'UTC' })
    const within = slots.filter(({ start_at }) => start_at >= from && start_at < to)
    return { date: date.toString(), number: i + 1, name, slots: within }
  })
}

/** The days of a week in a locale, from its first one; 1 is Monday. */
export function weekOf(locale: string): number[] {
  const { firstDay } = new Intl.Locale(locale).getWeekInfo()
  return Array.from({ length: 7 }, (_, n) => ((firstDay - 1 + n) % 7) + 1)
}

/** The number of empty cells before the month's first day. */
export const daysBefore = (month: string, week: readonly number[]) =>
  week.indexOf(Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 }).dayOfWeek)
