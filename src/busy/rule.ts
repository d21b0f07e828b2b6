import { RRuleTemporal } from 'rrule-temporal'
import { type FileTime, type Property, Unreadable } from './properties.ts'

/** The wall-clock times between which a calendar matters, in ms as if they were in UTC. */
export type WallWindow = { from_ms: number; to_ms: number }

const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const day_ms = 86_400_000
// An hourly rule has 17,568 times in 732 days. The library counts what it passes over, too.
const most_steps = 200_000

/**
 * The wall-clock times of a rule in a window (RFC 5545, 3.3.10). The rule is expanded on the wall clock, so that it keeps
 * its hours when the clock changes. Throws Unreadable for a rule that repeats more often than each hour.
 */
export function wallTimesOf(start: FileTime, rule: Property, { from_ms, to_ms }: WallWindow): number[] {
  const parts = rule.values[0] as Record<string, unknown>
  if (timesADay(parts) > 24)
    throw new Unreadable('A rule that repeats more often than each hour is not expanded.')
  const rruleString = `DTSTART:${basic(start.wall_ms)}\nRRULE:${ruleText(parts, start)}`
  try {
    return new RRuleTemporal({ rruleString, maxIterations: most_steps, cache: false })
      .between(new Date(from_ms), new Date(to_ms), true)
      .map((time) => Number(time.epochMilliseconds))
  } catch (error) {
    throw new Unreadable(`The rule cannot be expanded: ${(error as Error).message.slice(0, 100)}`)
  }
}

function timesADay({ freq, byhour, byminute, bysecond }: Record<string, unknown>): number {
  if (freq === 'SECONDLY' || freq === 'MINUTELY') return Number.POSITIVE_INFINITY
  const count = (part: unknown, none: number) => (part === undefined ? none : [part].flat().length)
  return count(byhour, freq === 'HOURLY' ? 24 : 1) * count(byminute, 1) * count(bysecond, 1)
}

function ruleText(parts: Record<string, unknown>, start: FileTime): string {
  const value = (name: string, part: unknown) => {
    if (name === 'until') return untilText(String(part), start)
    // ical.js counts the days of a week from Sunday, which is 1.
    if (name === 'wkst') return weekdays[Number(part) - 1] ?? part
    return [part].flat().join(',')
  }
  return Object.entries(parts)
    .map(([name, part]) => `${name.toUpperCase()}=${value(name, part)}`)
    .join(';')
}

/** An UNTIL in UTC, on the wall clock of the start. A day counts until its end, as all programs write it. */
function untilText(until: string, { zone }: FileTime): string {
  if (!until.includes('T')) return basic(Date.parse(`${until}T00:00:00Z`) + day_ms - 1000)
  const at_ms = Date.parse(until.endsWith('Z') ? until : `${until}Z`)
  if (Number.isNaN(at_ms)) throw new Unreadable(`"${until.slice(0, 40)}" is not a date.`)
  return basic(until.endsWith('Z') ? at_ms + zone.offsetAt(at_ms) : at_ms)
}

const basic = (wall_ms: number) => new Date(wall_ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')
