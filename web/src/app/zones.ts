// Local times (YYYY-MM-DDTHH:MM), as the browser's inputs have them, and days (YYYY-MM-DD). They use the
// time zone data of the browser, and of the server for the zone of the person, where the two differ. A library with its own
// data is too large for the first screen.

const day_ms = 86_400_000

type Offset = { from: string; utc_offset_minutes: number }
type Period = { from_ms: number; zone: string }
/** The offsets of a zone, if the data of the browser has others. */
let corrected: { zone: string; periods: Period[] } | null = null

/** Takes the server's offsets of the person's zone, in order. They count where the browser's data differs. */
export function setOffsets(zone: string, offsets: readonly Offset[]): void {
  corrected = null
  const differs = offsets.some(({ from, utc_offset_minutes }, n) => {
    const next = offsets[n + 1]
    const to_ms = next ? Date.parse(next.from) : Date.parse(from) + 30 * day_ms
    for (let at_ms = Date.parse(from); at_ms < to_ms; at_ms += 7 * day_ms)
      if (browserOffset(at_ms, zone) !== utc_offset_minutes) return true
    return false
  })
  if (!differs) return
  const periods = offsets.map((one) => ({
    from_ms: Date.parse(one.from),
    zone: fixedZone(one.utc_offset_minutes),
  }))
  corrected = { zone, periods }
}

const browserOffset = (at_ms: number, zone: string) =>
  (Date.parse(`${shownAt(at_ms, zone)}Z`) - Math.floor(at_ms / 60_000) * 60_000) / 60_000

// Older browsers know offsets of whole hours only by these names, whose sign is that of POSIX.
function fixedZone(minutes: number): string {
  if (minutes % 60 === 0) return `Etc/GMT${minutes > 0 ? '-' : '+'}${Math.abs(minutes / 60)}`
  const wall = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)
  return `${minutes < 0 ? '-' : '+'}${wall}`
}

/** The zone by which the browser shows a time right: the given one, or one with the server's offset. */
export function zoneAt(at_ms: number, zone: string): string {
  if (zone !== corrected?.zone) return zone
  return corrected.periods.findLast(({ from_ms }) => from_ms <= at_ms)?.zone ?? zone
}

/** A format of times in a zone. Each of its formats is made at its first use. */
export function zonedFormat(locale: string, zone: string, options: Intl.DateTimeFormatOptions) {
  const made = new Map<string, Intl.DateTimeFormat>()
  return (at_ms: number): string => {
    const shown = zoneAt(at_ms, zone)
    let format = made.get(shown)
    if (!format) {
      format = new Intl.DateTimeFormat(locale, { timeZone: shown, ...options })
      made.set(shown, format)
    }
    return format.format(at_ms)
  }
}

const walls = new Map<string, (at_ms: number) => string>()

/** The local time of an instant (ISO 8601) in a zone. */
export function wallOf(instant: string, zone: string): string {
  return shownAt(Date.parse(instant), zone)
}

function shownAt(at_ms: number, zone: string): string {
  let format = walls.get(zone)
  if (!format) {
    const parts = {
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    } as const
    // The Swedish format is that of ISO 8601.
    format = zonedFormat('sv-SE', zone, parts)
    walls.set(zone, format)
  }
  // Early years have fewer digits.
  return format(at_ms).replace(' ', 'T').padStart(16, '0')
}

/** Today, a day of a zone. */
export const todayIn = (zone: string): string => shownAt(Date.now(), zone).slice(0, 10)

/** Whether a text from the address is a local time. */
export function isWall(text: string): boolean {
  const at_ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? Date.parse(`${text}Z`) : Number.NaN
  // Date.parse reads 31 February as a day in March. Days outside these limits have another form of year.
  return text > '1000-01-02' && text < '9999-12-31' && new Date(at_ms || 0).toISOString().startsWith(text)
}

/** Whether a text is a day. */
export const isDay = (text: string): boolean => isWall(`${text}T00:00`)

/**
 * The instant of a local time in a zone, in UTC with milliseconds. A time that the clock skips is the one
 * an hour later; of a time that occurs twice, the first.
 */
export function instantOf(wall: string, zone: string): string {
  const utc_ms = Date.parse(`${wall}Z`)
  // The UTC offsets a day before and a day after. A clock change, if any, is between the two.
  const [before_ms, after_ms] = [utc_ms - day_ms, utc_ms + day_ms].map(
    (at_ms) => Date.parse(`${shownAt(at_ms, zone)}Z`) - Math.floor(at_ms / 60_000) * 60_000,
  ) as [number, number]
  const shows = (at_ms: number) => shownAt(at_ms, zone) === wall
  const skipped = !shows(utc_ms - before_ms) && !shows(utc_ms - after_ms)
  const first = skipped || shows(utc_ms - before_ms) ? before_ms : after_ms
  return new Date(utc_ms - first).toISOString()
}

/** The day after a number of days. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00Z`) + days * day_ms).toISOString().slice(0, 10)

/** The first millisecond of a day in a zone. It need not be midnight: some zones change the clock then. */
export const startOfDay = (day: string, zone: string): string => instantOf(`${day}T00:00`, zone)

/** The last millisecond of a day in a zone. A day with a change of the clock has 23 or 25 hours. */
export const endOfDay = (day: string, zone: string): string =>
  new Date(Date.parse(startOfDay(addDays(day, 1), zone)) - 1).toISOString()

/** A local time a number of minutes later. Skipped hours are skipped. */
export const laterOnWall = (wall: string, minutes: number, zone: string): string =>
  shownAt(Date.parse(instantOf(wall, zone)) + minutes * 60_000, zone)

/** The next full half hour in a zone, the default for new appointments. */
export function nextHalfHour(zone: string, now_ms = Date.now()): string {
  const half_hour_ms = 1_800_000
  return shownAt(Math.ceil(now_ms / half_hour_ms) * half_hour_ms, zone)
}
