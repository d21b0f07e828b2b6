import { type Zone, zoneOf } from './zones.ts'

// Times on the wall clock of a zone are milliseconds since 1970 as if they were in UTC. Days are YYYY-MM-DD.

const day_ms = 86_400_000

/** The offset of a zone at a time, in ms: wall clock = UTC + offset. */
export const offsetAt = (at_ms: number, zone: string): number => zoneOf(zone).offsetAt(at_ms)

/** The wall clock time of a zone at a time. */
export const wallAt = (at_ms: number, zone: string): number => at_ms + offsetAt(at_ms, zone)

/** The day of a zone at a time. The text of a year after 9999 has a sign and six digits. */
export const dayAt = (at_ms: number, zone: string): string =>
  new Date(wallAt(at_ms, zone)).toISOString().replace(/T.*/, '')

/** The times at which a zone's wall clock shows a time: none if the clock skips it, two if it is set back over it. */
export const timesAt = (wall_ms: number, zone: string): number[] => shownAt(wall_ms, zoneOf(zone))

function shownAt(wall_ms: number, zone: Zone): number[] {
  // The clock changes at most once within these days.
  const offsets = [-day_ms, day_ms].map((by) => zone.offsetAt(wall_ms + by))
  return [...new Set(offsets)]
    .map((offset_ms) => wall_ms - offset_ms)
    .filter((at_ms) => at_ms + zone.offsetAt(at_ms) === wall_ms)
    .sort((a, b) => a - b)
}

/**
 * The moment of a wall-clock time as RFC 5545, section 3.3.5 reads it: the first one that shows it. A time that the clock
 * skips has the offset of before the gap.
 */
export const firstTimeAt = (wall_ms: number, zone: Zone): number =>
  shownAt(wall_ms, zone)[0] ?? wall_ms - zone.offsetAt(wall_ms - day_ms)

/** The first moment of a day of a zone, which is not at 00:00 where the clock skips midnight. */
export function startOfDay(day: string, zone_name: string): number {
  const zone = zoneOf(zone_name)
  const wall_ms = Date.parse(`${day}T00:00Z`)
  const [first] = shownAt(wall_ms, zone)
  if (first !== undefined) return first
  const later_ms = wall_ms - zone.offsetAt(wall_ms + day_ms)
  return zone.changeAfter(later_ms) ?? later_ms
}

/** The time between two clock changes of a zone. Wall clock = UTC + offset. */
export type OffsetPeriod = { start_ms: number; end_ms: number; offset_ms: number }

/** The periods of a zone from a time on, up to the one that reaches another time. The last one may have no end. */
export function offsetPeriods(zone_name: string, from_ms: number, to_ms: number): OffsetPeriod[] {
  const zone = zoneOf(zone_name)
  const periods: OffsetPeriod[] = []
  for (let start_ms = from_ms; ; ) {
    const end_ms = zone.changeAfter(start_ms) ?? Number.POSITIVE_INFINITY
    periods.push({ start_ms, end_ms, offset_ms: zone.offsetAt(start_ms) })
    if (end_ms >= to_ms) return periods
    start_ms = end_ms
  }
}
