import { Temporal } from 'temporal-polyfill'

// What the clock on the wall of a place shows, YYYY-MM-DDTHH:MM, as the browser's fields for dates and times have it.

/** What the clock shows in a zone at an instant (ISO 8601). */
export function wallOf(instant: string, zone: string): string {
  const there = Temporal.Instant.from(instant).toZonedDateTimeISO(zone)
  return there.toPlainDateTime().toString({ smallestUnit: 'minute' })
}

/**
 * The instant at which a zone's clock shows a time, as the API has it: UTC with milliseconds. A time that the clock skips
 * is the one an hour later; of one that comes twice it is the first.
 */
export function instantOf(wall: string, zone: string): string {
  const { epochMilliseconds } = Temporal.PlainDateTime.from(wall).toZonedDateTime(zone)
  return new Date(epochMilliseconds).toISOString()
}

/**
 * The first and the last millisecond of a calendar day in a zone, so many days from the one that is there now. A day that
 * the clocks are changed on has 23 or 25 hours.
 */
export function dayAt(zone: string, days: number, now_ms = Date.now()): { from: string; to: string } {
  const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(now_ms)).toZonedDateTimeISO(zone)
  const first = now.startOfDay().add({ days }).startOfDay()
  const last_ms = first.add({ days: 1 }).startOfDay().epochMilliseconds - 1
  return { from: new Date(first.epochMilliseconds).toISOString(), to: new Date(last_ms).toISOString() }
}

/** A time on the wall so many minutes later, as the clock itself goes on: skipped hours are skipped. */
export function laterOnWall(wall: string, minutes: number, zone: string): string {
  return wallOf(new Date(Date.parse(instantOf(wall, zone)) + minutes * 60_000).toISOString(), zone)
}

/** The next full half hour in a zone, on its wall: where something new begins if nobody says otherwise. */
export function nextHalfHour(zone: string, now_ms = Date.now()): string {
  const half_hour_ms = 1_800_000
  return wallOf(new Date(Math.ceil(now_ms / half_hour_ms) * half_hour_ms).toISOString(), zone)
}
