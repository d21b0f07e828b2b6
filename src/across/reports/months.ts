import { Temporal } from 'temporal-polyfill'

/** A calendar month of a zone: YYYY-MM, and its first moment and the next one's, in UTC. */
export type ReportMonth = { month: string; from: string; to: string }

const isoOf = ({ epochMilliseconds }: Temporal.ZonedDateTime) => new Date(epochMilliseconds).toISOString()
// A monotonic clock returns fractions of a millisecond, which Temporal refuses.
const today = (now_ms: number, time_zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(now_ms)).toZonedDateTimeISO(time_zone).toPlainDate()

/**
 * The last `count` calendar months of a zone, oldest first, the current one last. Each begins when its first day does,
 * which is not at 00:00 where the clock skips midnight.
 */
export function lastMonths(count: number, time_zone: string, now_ms: number): ReportMonth[] {
  const current = today(now_ms, time_zone).with({ day: 1 })
  return Array.from({ length: count }, (_, index) => {
    const first = current.subtract({ months: count - 1 - index })
    const next = first.add({ months: 1 })
    return {
      month: first.toPlainYearMonth().toString(),
      from: isoOf(first.toZonedDateTime(time_zone)),
      to: isoOf(next.toZonedDateTime(time_zone)),
    }
  })
}

/** The first moment of a zone's current day and of the next one, in UTC. */
export function dayOf(time_zone: string, now_ms: number): { from: string; to: string } {
  const day = today(now_ms, time_zone)
  return {
    from: isoOf(day.toZonedDateTime(time_zone)),
    to: isoOf(day.add({ days: 1 }).toZonedDateTime(time_zone)),
  }
}
