import type { Period } from './periods.ts'
import {
  all,
  type Clocks,
  type Component,
  endAfter,
  type FileTime,
  first,
  lengthOf,
  momentOf,
  textOf,
  timeOf,
  Unreadable,
} from './properties.ts'
import { type WallWindow, wallTimesOf } from './rule.ts'

/** The first occurrence, the end of one that begins at a time, and whether each takes its time. */
type Shape = { start: FileTime; endOf: (start: FileTime) => number; is_busy: boolean }

const day_ms = 86_400_000

/** The times that an event and its changed occurrences take within a window. Throws Unreadable. */
export function timesOfEvent(
  event: Component,
  changes: readonly Component[],
  clocks: Clocks,
  window: WallWindow,
  isMe: (address: string) => boolean,
): Period[] {
  const main = shapeOf(event, clocks, isMe)
  const changed = changes.map((change) => changeOf(change, main.start, clocks, isMe))
  const later = changed.filter(({ is_later }) => is_later).sort((a, b) => a.of_ms - b.of_ms)
  const replaced = new Set(changed.map(({ of_ms }) => of_ms))
  const left_out = exceptionsOf(event, main.start, clocks)
  const found: Period[] = changed.flatMap(({ shape }) => periodOf(shape, shape.start))
  for (const start of startsOf(event, main, clocks, window, later)) {
    const at_ms = momentOf(start)
    if (replaced.has(at_ms) || left_out.has(at_ms) || left_out.has(`${dayOf(start)}`)) continue
    const change = later.findLast(({ of_ms }) => of_ms < at_ms)
    if (!change) found.push(...periodOf(main, start))
    else {
      const { shape, shift_ms } = change
      found.push(...periodOf(shape, { ...shape.start, wall_ms: start.wall_ms + shift_ms }))
    }
  }
  return [...found, ...statedPeriods(event, clocks, main.is_busy)]
}

const dayOf = ({ wall_ms }: FileTime) => Math.floor(wall_ms / day_ms)

function periodOf({ endOf, is_busy }: Shape, start: FileTime): Period[] {
  if (!is_busy) return []
  const period = { start_ms: momentOf(start), end_ms: endOf(start) }
  return period.start_ms < period.end_ms ? [period] : []
}

/** The starts of the event within the window, as the file states them: DTSTART, its rules, and its dates. */
function startsOf(
  event: Component,
  { start, endOf }: Shape,
  clocks: Clocks,
  { from_ms, to_ms }: WallWindow,
  later: readonly Change[],
): FileTime[] {
  // An occurrence may have begun before the window, or be moved into it.
  const longest = Math.max(0, endOf(start) - momentOf(start)) + day_ms
  const moved = later.map(({ shift_ms }) => Math.abs(shift_ms))
  const reach = Math.max(longest, ...moved)
  const wide = { from_ms: from_ms - reach, to_ms: to_ms + Math.max(0, ...moved) }
  const rules = all(event, 'rrule').flatMap((rule) => wallTimesOf(start, rule, wide))
  const walls = new Set([start.wall_ms, ...rules])
  const dates = all(event, 'rdate').flatMap(({ values, parameters }) =>
    values.filter((value) => typeof value === 'string').map((value) => timeOf(value, parameters, clocks)),
  )
  const starts = [...walls].map((wall_ms) => ({ ...start, wall_ms }))
  const known = new Set(starts.map(momentOf))
  return [...starts, ...dates.filter((date) => !known.has(momentOf(date)))]
}

/** The RDATE values that are periods, which have ends of their own (RFC 5545, 3.8.5.2). */
function statedPeriods(event: Component, clocks: Clocks, is_busy: boolean): Period[] {
  if (!is_busy) return []
  return all(event, 'rdate').flatMap(({ values, parameters }) =>
    values.filter(Array.isArray).map((value) => periodValue(value, parameters, clocks)),
  )
}

/** A PERIOD in jCal: its start, and its end or duration. Throws Unreadable. */
export function periodValue(
  value: unknown[],
  parameters: Record<string, string | string[]>,
  clocks: Clocks,
): Period {
  const start = timeOf(value[0], parameters, clocks)
  const end = String(value[1])
  const end_ms = end.includes('P')
    ? endAfter(start, lengthOf(end))
    : momentOf(timeOf(end, parameters, clocks))
  return { start_ms: momentOf(start), end_ms }
}

/** The moments and days that EXDATE takes away. Some programs name a day for an event with a time. */
function exceptionsOf(event: Component, start: FileTime, clocks: Clocks): Set<number | string> {
  const times = all(event, 'exdate').flatMap(({ values, parameters }) =>
    values.map((value) => occurrenceAt(start, timeOf(value, parameters, clocks))),
  )
  return new Set(times.map((time) => (time.is_day ? `${dayOf(time)}` : momentOf(time))))
}

/** The occurrence that a time names. For a whole day, some programs write its midnight in another zone. */
const occurrenceAt = (start: FileTime, time: FileTime): FileTime =>
  start.is_day && time.wall_ms % day_ms === 0 ? { ...start, wall_ms: time.wall_ms } : time

type Change = { of_ms: number; is_later: boolean; shift_ms: number; shape: Shape }

function changeOf(
  event: Component,
  start: FileTime,
  clocks: Clocks,
  isMe: (address: string) => boolean,
): Change {
  const id = first(event, 'recurrence-id')
  const of = occurrenceAt(start, timeOf(id?.values[0], id?.parameters ?? {}, clocks))
  const shape = shapeOf(event, clocks, isMe)
  const of_ms = momentOf(of)
  // On the wall clock of the change: the two may be in different zones.
  const shift_ms = shape.start.wall_ms - (of_ms + shape.start.zone.offsetAt(of_ms))
  return {
    of_ms,
    is_later: String(id?.parameters.range ?? '').toUpperCase() === 'THISANDFUTURE',
    shift_ms,
    shape,
  }
}

function shapeOf(event: Component, clocks: Clocks, isMe: (address: string) => boolean): Shape {
  const begin = first(event, 'dtstart')
  if (!begin) throw new Unreadable('The event has no start.')
  const start = timeOf(begin.values[0], begin.parameters, clocks)
  return { start, endOf: endRule(event, start, clocks), is_busy: takesTime(event, isMe) }
}

/** How long an occurrence is: DTEND gives an exact length, DURATION may have days (RFC 5545, 3.8.5.3). */
function endRule(event: Component, start: FileTime, clocks: Clocks): (start: FileTime) => number {
  const duration = first(event, 'duration')
  if (duration) {
    const length = lengthOf(duration.values[0])
    return (from) => endAfter(from, length)
  }
  const stated = first(event, 'dtend')
  const end = stated && timeOf(stated.values[0], stated.parameters, clocks)
  if (start.is_day) {
    const days = end ? Math.max(day_ms, end.wall_ms - start.wall_ms) : day_ms
    return (from) => endAfter(from, { wall_ms: days, exact_ms: 0 })
  }
  const exact_ms = end ? momentOf(end) - momentOf(start) : 0
  return (from) => momentOf(from) + exact_ms
}

/** Whether an event makes its owner busy. A calendar says in four ways that it does not. */
function takesTime(event: Component, isMe: (address: string) => boolean): boolean {
  const is = (name: string, value: string) => textOf(event, name).trim().toUpperCase() === value
  if (is('transp', 'TRANSPARENT') || is('status', 'CANCELLED') || is('x-microsoft-cdo-busystatus', 'FREE'))
    return false
  return !all(event, 'attendee').some(
    ({ values, parameters }) =>
      String(parameters.partstat).toUpperCase() === 'DECLINED' &&
      isMe(String(values[0]).replace(/^mailto:/i, '')),
  )
}
