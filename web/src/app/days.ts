// A zone's clock is at most this far from UTC.
const widest_ms = 15 * 3_600_000

/** The calendar day, YYYY-MM-DD, at an instant in a zone. */
export function dayIn(zone: string, at_ms: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(at_ms)
}

/** The day so many days later. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/**
 * The instant, as the API has it, at which a calendar day begins in a zone: sought by halves, since a day's beginning is
 * the first moment of which the zone's calendar says so, whatever its clock skips or repeats.
 */
export function startOfDay(day: string, zone: string): string {
  const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone: zone })
  const midnight = Date.parse(`${day}T00:00:00Z`)
  let before = midnight - widest_ms
  let begun = midnight + widest_ms
  while (begun - before > 1) {
    const middle = Math.floor((before + begun) / 2)
    if (calendar.format(middle) >= day) begun = middle
    else before = middle
  }
  return new Date(begun).toISOString()
}

/** The last millisecond of a calendar day in a zone. */
export function endOfDay(day: string, zone: string): string {
  return new Date(Date.parse(startOfDay(addDays(day, 1), zone)) - 1).toISOString()
}
