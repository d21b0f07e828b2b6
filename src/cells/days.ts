import { day_ms, isoTime } from '../clock.ts'
import { offsetAt, startOfDay, timesAt } from '../zones/wall.ts'

// Days and times as people and programs write them: 31.12.2026, 12/31/2026 2:30 PM, 31 Dec 2026, 2026-12-31T14:30Z.

/** Which of the first two numbers of 05/06/2026 is the day. */
export type DayOrder = 'day_first' | 'month_first'

/** A day of the calendar, its wall-clock time if the text has one, and the offset from UTC if it names one. */
export type Moment = { day: string; time: string | null; offset: string | null }

/** A moment, or why a text has none: `two` readings, or `null` for another text. */
export type MomentReading = Moment | { two: [string, string] } | null

// The names of months that HubSpot, Pipedrive, Outlook and spreadsheets write, by their first letters.
const months: readonly (readonly string[])[] = [
  ['jan', 'ene', 'gen'],
  ['feb', 'fév', 'fev'],
  ['mar', 'mär', 'mrz'],
  ['apr', 'avr', 'abr'],
  ['may', 'mai', 'mag', 'mei'],
  ['jun', 'juin', 'giu'],
  ['jul', 'juil', 'lug'],
  ['aug', 'aoû', 'aou', 'ago'],
  ['sep', 'set'],
  ['oct', 'okt', 'ott', 'out'],
  ['nov'],
  ['dec', 'dez', 'déc', 'dic'],
]

function monthOf(name: string): number | null {
  const letters = name.toLowerCase().normalize('NFC')
  // "juin" and "juil" begin alike; the longer beginning decides.
  const starts = months.flatMap((names, n) => names.map((start) => ({ start, month: n + 1 })))
  const found = starts.filter(({ start }) => letters.startsWith(start))
  found.sort((a, b) => b.start.length - a.start.length)
  return found[0]?.month ?? null
}

const max_characters = 80
const iso = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)/
const dotted = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})(?!\d)/
const slashed = /^(\d{1,2})([/-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/
const compact = /^((?:19|20)\d\d)(\d\d)(\d\d)$/
// Spreadsheets shorten the year only behind hyphens: 31-Dec-26.
const day_named =
  /^(\d{1,2})(?:st|nd|rd|th|\.)?[\s-](?:de\s)?(\p{L}{3,12})\.?,?(?:[\s-](?:de\s)?(\d{4})|-(\d\d))(?!\d)/u
const month_named = /^(\p{L}{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?!\d)/u
const clock =
  /^(?:T|,?\s+(?:at\s|um\s|à\s)?|)(\d{1,2})(?:[:.h](\d\d)(?::(\d\d)(\.\d{1,9})?)?|(?=\s?[ap]\.?m))(?:\s?([ap])\.?m\.?)?(?:\sUhr)?\s?(Z|UTC|GMT|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/iu
const weekday = /^\p{L}{2,10}\.?,\s/u

/** Reads a text as a day, with or without a time. `order` decides 05/06/2026; with null, it has two readings. */
export function readMoment(text: string, order: DayOrder | null): MomentReading {
  const given = text.trim().replaceAll(/[\u00a0\u2009\u202f]/g, ' ')
  if (given.length > max_characters) return null
  const read = given.replace(weekday, '')
  const found = dayIn(read, order)
  if (!found) return null
  if ('two' in found) return found
  const rest = read.slice(found.length).trimEnd()
  if (!rest) return { day: found.day, time: null, offset: null }
  const time = timeOf(rest)
  return time && { day: found.day, ...time }
}

type Found = { day: string; length: number } | { two: [string, string] } | null

function dayIn(text: string, order: DayOrder | null): Found {
  const [whole = '', ...parts] =
    iso.exec(text) ??
    compact.exec(text) ??
    dotted.exec(text) ??
    slashed.exec(text) ??
    day_named.exec(text) ??
    month_named.exec(text) ??
    []
  const [first = '', second = '', third = '', fourth = ''] = parts
  const length = whole.length
  const found = (year: string, month: number | null, day: string): Found => {
    const valid = dayOf(year, month, Number(day))
    return valid === null ? null : { day: valid, length }
  }
  if (!whole) return null
  if (iso.test(whole)) return found(first, Number(third), fourth)
  if (compact.test(whole)) return found(first, Number(second), third)
  if (dotted.test(whole)) return found(third, Number(second), first)
  if (slashed.test(whole)) return slashedDay(first, third, fourth, order, length)
  if (day_named.test(whole)) return found(third || fourth, monthOf(second), first)
  return found(third, monthOf(first), second)
}

function slashedDay(
  first: string,
  second: string,
  year: string,
  order: DayOrder | null,
  length: number,
): Found {
  const day_first = dayOf(year, Number(second), Number(first))
  const month_first = dayOf(year, Number(first), Number(second))
  const is_unclear = day_first !== null && month_first !== null && day_first !== month_first
  const by_order = order === null ? null : { day_first, month_first }[order]
  const day = is_unclear ? by_order : (day_first ?? month_first)
  if (day) return { day, length }
  return day_first && month_first ? { two: [day_first, month_first] } : null
}

/** A day as YYYY-MM-DD, if the calendar has it. Two digits of a year are 1970 to 2069. */
function dayOf(year: string, month: number | null, day: number): string | null {
  if (month === null || month < 1 || month > 12 || day < 1 || day > 31) return null
  const number = Number(year)
  // Some programs write an empty day as the first one of year 1.
  if (year.length === 4 && number < 100) return null
  const full = year.length === 2 ? number + (number < 70 ? 2000 : 1900) : number
  const date = new Date(Date.UTC(full, month - 1, day))
  if (date.getUTCMonth() !== month - 1) return null
  return date.toISOString().slice(0, 10)
}

const withMinutes = (_: string, hours: string, minutes = '00') => `${hours}:${minutes}`

/** A wall-clock time as HH:MM:SS, with its offset from UTC; null for another text. */
export function timeOf(text: string): Pick<Moment, 'time' | 'offset'> | null {
  const [found, hour = '', minute = '00', second = '00', part = '', half, zone] = clock.exec(text) ?? []
  if (found === undefined) return null
  let hours = Number(hour)
  if (half) {
    if (hours < 1 || hours > 12) return null
    hours = (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  }
  if (hours > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const offset =
    zone === undefined ? null : /^[+-]/.test(zone) ? zone.replace(/^(...):?(\d\d)?$/, withMinutes) : 'Z'
  return { time: `${String(hours).padStart(2, '0')}:${minute}:${second}${part.slice(0, 4)}`, offset }
}

/** The time that a moment has beside its day. Null: none, or midnight, which programs also write for a day alone. */
export function ownTime({ time }: Pick<Moment, 'time'>): string | null {
  const whole = time?.replace(/\.0+$/, '') ?? null
  return whole === '00:00:00' ? null : whole
}

/** The order that a text shows: 31/12/2026 and 12/31/2026 have one reading. Null: none. */
export function orderOf(text: string): DayOrder | null {
  const [, first, , second] = slashed.exec(text.trim().replace(weekday, '')) ?? []
  if (!first || !second || !readMoment(text, null) || 'two' in (readMoment(text, null) as object)) return null
  if (Number(first) > 12) return 'day_first'
  return Number(second) > 12 ? 'month_first' : null
}

/** The instant of a moment as a time of ISO 8601. Without an offset, in the zone; a day alone is its first instant there. */
export function instantOf({ day, time, offset }: Moment, zone: string): string {
  if (time === null) return isoTime(startOfDay(day, zone))
  if (offset !== null) return isoTime(Date.parse(`${day}T${time}${offset}`))
  const wall_ms = Date.parse(`${day}T${time}Z`)
  // A time that the clock skips is read with the offset before the change.
  return isoTime(timesAt(wall_ms, zone)[0] ?? wall_ms - offsetAt(wall_ms - day_ms, zone))
}
