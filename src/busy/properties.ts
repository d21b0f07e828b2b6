import ICAL from 'ical.js'
import { firstTimeAt } from '../zones/wall.ts'
import type { Zone } from '../zones/zone.ts'

/** A property in jCal (RFC 7265, 3.4): its name in lower case, its parameters, the type of its values, its values. */
export type Property = { name: string; parameters: Record<string, string | string[]>; values: unknown[] }
export type Component = { name: string; properties: Property[]; parts: Component[] }

/** A value that cannot be read. The message is the reason that the account of a calendar shows. */
export class Unreadable extends Error {}

type JCal = [string, [string, Record<string, string | string[]>, string, ...unknown[]][], JCal[]]

/** The properties that are read here. A broken line of any other must not cost the event its time. */
const known = new Set(
  `BEGIN END UID TZID TZOFFSETFROM TZOFFSETTO DTSTART DTEND DURATION RRULE RDATE EXDATE RECURRENCE-ID TRANSP STATUS
  X-MICROSOFT-CDO-BUSYSTATUS ATTENDEE FREEBUSY`.split(/\s+/),
)

/** The lines that are read, unfolded. Of guests, those who declined matter alone. */
const linesOf = (text: string): string[] =>
  text
    .replaceAll(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .filter((line) => {
      const name = (/^[\w-]+/.exec(line)?.[0] ?? '').toUpperCase()
      return known.has(name) && !line.endsWith(':') && (name !== 'ATTENDEE' || /declined/i.test(line))
    })
    // Exchange writes this name of a zone without quotes.
    .map((line) => line.replace(/;TZID=(tzone:[^":;]+)/i, ';TZID="$1"'))

/** Parses the text of one component. Throws Unreadable. */
export function parseComponent(text: string): Component {
  try {
    return component(ICAL.parse(linesOf(text).join('\r\n')) as unknown as JCal)
  } catch (error) {
    throw new Unreadable(`The lines cannot be read: ${(error as Error).message.slice(0, 100)}`)
  }
}

const component = ([name, properties, parts]: JCal): Component => ({
  name,
  properties: properties.map(([key, parameters, , ...values]) => ({ name: key, parameters, values })),
  parts: parts.map(component),
})

export const all = ({ properties }: Component, name: string) => properties.filter((one) => one.name === name)
export const first = ({ properties }: Component, name: string) => properties.find((one) => one.name === name)
export const textOf = (component: Component, name: string) => String(first(component, name)?.values[0] ?? '')

/** A time as a file states it: the wall clock of a zone, as ms as if it were in UTC. A day is its midnight. */
export type FileTime = { wall_ms: number; zone: Zone; is_day: boolean }
/** The clock of a TZID, null for an unknown one; and that of days and of times without a zone. */
export type Clocks = { zoneOf: (tzid: string) => Zone | null; local: Zone }

export const utc: Zone = { offsetAt: () => 0, changeAfter: () => null }
// ical.js reads a day as a time without digits, if VALUE=DATE is missing.
const pattern = /^(\d{4}-\d\d-\d\d)(?:T::|T(\d\d:\d\d):(\d\d)(Z?))?$/

/** Reads a DATE or DATE-TIME (RFC 5545, 3.3.4 and 3.3.5). Throws Unreadable for a date that does not exist. */
export function timeOf(value: unknown, parameters: Property['parameters'], clocks: Clocks): FileTime {
  const found = pattern.exec(String(value))
  const [, day = '', time, second = '00', z] = found ?? []
  // A leap second is the one before.
  const wall_ms = Date.parse(`${day}T${time ?? '00:00'}:${second === '60' ? '59' : second}Z`)
  const is_real = Number.isFinite(wall_ms) && new Date(wall_ms).toISOString().startsWith(day)
  if (!found || !is_real) throw new Unreadable(`"${String(value).slice(0, 40)}" is not a date.`)
  if (time === undefined) return { wall_ms, zone: clocks.local, is_day: true }
  const { tzid } = parameters
  if (z) return { wall_ms, zone: utc, is_day: false }
  if (tzid === undefined) return { wall_ms, zone: clocks.local, is_day: false }
  const zone = clocks.zoneOf(String(tzid))
  if (!zone) throw new Unreadable(`The time zone "${String(tzid).slice(0, 60)}" is unknown.`)
  return { wall_ms, zone, is_day: false }
}

/** The moment of a time. A time that the clock skips or shows twice is read as RFC 5545, 3.3.5 says. */
export const momentOf = ({ wall_ms, zone }: FileTime): number => firstTimeAt(wall_ms, zone)

/** The parts of a DURATION, in ms: days follow the wall clock, and hours are exact (RFC 5545, 3.3.6). */
export type Length = { wall_ms: number; exact_ms: number }

export function lengthOf(value: unknown): Length {
  const found = /^([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(String(value))
  if (!found) throw new Unreadable(`"${String(value).slice(0, 40)}" is not a duration.`)
  const [, sign, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found.map((part) => part ?? 0)
  if (sign === '-') throw new Unreadable('A negative duration has no end.')
  return {
    wall_ms: (Number(weeks) * 7 + Number(days)) * 86_400_000,
    exact_ms: (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000,
  }
}

/** The end of what begins at a time and takes a length. */
export const endAfter = (start: FileTime, { wall_ms, exact_ms }: Length): number =>
  momentOf({ ...start, wall_ms: start.wall_ms + wall_ms }) + exact_ms
