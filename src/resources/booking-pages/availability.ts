import type { FieldCode } from '../../errors.ts'
import { formats, isDay } from '../../http/formats.ts'
import { canonicalTimeZone } from '../../zones/names.ts'
import { type OffsetPeriod, offsetPeriods, wallAt } from '../../zones/wall.ts'

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const
export type Weekday = (typeof weekdays)[number]
/** Wall-clock times HH:MM in the page's zone. `from` is before `to`, which may be 24:00. */
export type Interval = { from: string; to: string }
export type Availability = Partial<Record<Weekday, Interval[]>>
/** Intervals by day (YYYY-MM-DD) in the page's zone, in place of those of the weekday. [] closes the day. */
export type DateOverrides = { [date: string]: Interval[] }
export type PageRules = {
  duration_minutes: number
  buffer_minutes: number
  minimum_notice_minutes: number
  horizon_days: number
  time_zone: string
  availability: Availability
  date_overrides: DateOverrides
}
export type Busy = { start_ms: number; end_ms: number }
/** ISO 8601 UTC with milliseconds. */
export type Slot = { start_at: string; end_at: string }
export type SlotWindow = { from_ms: number; to_ms: number; now_ms: number; limit?: number }
type Problem = { field: string; code: FieldCode; message: string }

const minute_ms = 60_000
const day_ms = 86_400_000

/** An open span as wall clock times, in milliseconds as if they were in UTC. */
type WallSpan = { from_ms: number; to_ms: number }

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

/** Days since 1970 on the wall clock. */
const dayOf = (at_ms: number, time_zone: string): number => Math.floor(wallAt(at_ms, time_zone) / day_ms)

/** The intervals of a day in order, with overlaps merged. Adjacent intervals stay separate: slots start at the beginning of each. */
function spansOfDay({ availability, date_overrides }: PageRules, day: number): WallSpan[] {
  const override = date_overrides[new Date(day * day_ms).toISOString().slice(0, 10)]
  // 1970 began on a Thursday.
  const weekday = weekdays[(((day + 3) % 7) + 7) % 7] as Weekday
  const wallTime = (time: string) => day * day_ms + minutesOf(time) * minute_ms
  const spans: WallSpan[] = []
  const sorted = (override ?? availability[weekday] ?? [])
    .map(({ from, to }) => ({ from_ms: wallTime(from), to_ms: wallTime(to) }))
    .sort((a, b) => a.from_ms - b.from_ms)
  for (const span of sorted) {
    const last = spans.at(-1)
    if (last && span.from_ms < last.to_ms) last.to_ms = Math.max(last.to_ms, span.to_ms)
    else spans.push(span)
  }
  return spans
}

const week_days = 7

/**
 * The open spans of some days, in order. Hours that touch at midnight are one span. After a week that is open day and
 * night, each midnight begins a span: so slots do not depend on the begin of a span that has no end.
 */
function spansOfDays(rules: PageRules, first_day: number, last_day: number): WallSpan[] {
  const spans: WallSpan[] = []
  let open_days = 0
  // A span that reaches the first day began at most 8 days before it.
  for (let day = first_day - week_days - 2; day <= last_day; day++) {
    const of_day = spansOfDay(rules, day)
    for (const span of of_day) {
      const last = spans.at(-1)
      const continues = span.from_ms === day * day_ms && last?.to_ms === span.from_ms && open_days < week_days
      if (continues) last.to_ms = span.to_ms
      else spans.push({ ...span })
    }
    const [only] = of_day
    const is_whole = only !== undefined && only.to_ms - only.from_ms === day_ms
    open_days = is_whole ? open_days + 1 : 0
  }
  return spans.filter(({ to_ms }) => to_ms > first_day * day_ms)
}

/** The pieces of a span between clock changes. A slot that starts in a piece is open until `until_ms`. */
function piecesOf(span: WallSpan, periods: readonly OffsetPeriod[]) {
  const pieces = periods
    .map(({ start_ms, end_ms, offset_ms }) => {
      const first_ms = span.from_ms - offset_ms
      const last_ms = Math.min(span.to_ms - offset_ms, end_ms)
      return { first_ms, start_ms: Math.max(first_ms, start_ms), end_ms: last_ms, until_ms: last_ms }
    })
    .filter(({ start_ms, end_ms }) => start_ms < end_ms)
  // A slot may run through a clock change inside the span.
  for (const [i, piece] of [...pieces.entries()].reverse()) {
    const next = pieces[i + 1]
    if (next?.start_ms === piece.end_ms) piece.until_ms = next.until_ms
  }
  return pieces
}

/** The starts of slots in a span: one slot after the other from the span's beginning, on the wall clock. */
function startsIn(span: WallSpan, periods: readonly OffsetPeriod[], slot_ms: number): number[] {
  const starts: number[] = []
  let taken_until = Number.NEGATIVE_INFINITY
  for (const { first_ms, start_ms, end_ms, until_ms } of piecesOf(span, periods)) {
    const skipped = Math.ceil((start_ms - first_ms) / slot_ms)
    for (let start = first_ms + skipped * slot_ms; start < end_ms; start += slot_ms) {
      // After a clock change, a step may fall into a slot that began before. Keep the earlier slot.
      if (start < taken_until || start + slot_ms > until_ms) continue
      starts.push(start)
      taken_until = start + slot_ms
    }
  }
  return starts
}

/** Whether a time is free. */
export type IsClear = (start_ms: number, end_ms: number) => boolean

/** Returns a check that a time is clear of all busy times. It sorts them once, for thousands of checks. */
export function clearOf(busy: readonly Busy[]): IsClear {
  const blocks: Busy[] = []
  for (const { start_ms, end_ms } of busy.toSorted((a, b) => a.start_ms - b.start_ms)) {
    const last = blocks.at(-1)
    if (last && start_ms <= last.end_ms) last.end_ms = Math.max(last.end_ms, end_ms)
    else blocks.push({ start_ms, end_ms })
  }
  return (start_ms, end_ms) => {
    let low = 0
    let high = blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((blocks[middle] as Busy).start_ms < end_ms) low = middle + 1
      else high = middle
    }
    const nearest = blocks[low - 1]
    return !nearest || nearest.end_ms <= start_ms
  }
}

function freeStarts(rules: PageRules, isClear: IsClear, window: SlotWindow): number[] {
  const { time_zone } = rules
  const limit = window.limit ?? Number.POSITIVE_INFINITY
  const slot_ms = rules.duration_minutes * minute_ms
  const low = Math.max(window.from_ms, window.now_ms + rules.minimum_notice_minutes * minute_ms)
  const high = window.to_ms
  if (!(low < high && slot_ms > 0 && limit > 0)) return []
  // Wall-clock days differ from UTC days by at most one. Read one more, because days interleave if a clock is set back
  // across midnight.
  const first_day = Math.floor(low / day_ms) - 2
  const horizon = dayOf(window.now_ms, time_zone) + rules.horizon_days
  const last_day = Math.min(horizon, Math.floor(high / day_ms) + 2)
  if (first_day > last_day) return []
  // The last slot may end on the day after.
  const spans = spansOfDays(rules, first_day, last_day + 1)
  const [first] = spans
  if (!first) return []
  const periods = offsetPeriods(time_zone, first.from_ms - 2 * day_ms, (last_day + 3) * day_ms)
  const buffer_ms = rules.buffer_minutes * minute_ms
  const isWithin = (start: number) =>
    start >= low && start < high && wallAt(start, time_zone) < (horizon + 1) * day_ms
  const starts: number[] = []
  let enough_until_ms = Number.POSITIVE_INFINITY
  for (const span of spans) {
    // The spans of another day may interleave with this one.
    if (span.from_ms > enough_until_ms) break
    for (const start of startsIn(span, periods, slot_ms))
      if (isWithin(start) && isClear(start - buffer_ms, start + slot_ms + buffer_ms)) starts.push(start)
    if (starts.length >= limit) enough_until_ms = Math.min(enough_until_ms, span.to_ms + day_ms)
  }
  starts.sort((a, b) => a - b)
  return starts.slice(0, limit)
}

// An instant is open if its wall-clock time is in an interval of its day. So a skipped hour is never offered, and a
// repeated hour is offered twice. A slot is open as a whole. Slots start at the beginning of a span and every
// `duration_minutes` after it on the wall clock. If two slots overlap after a clock change, the earlier one counts.

/**
 * The free slots that start in [from, to), in order, at most `limit`. Times are milliseconds since 1970. The horizon is today
 * in the page's zone plus `horizon_days`. The rules must be valid: an unknown zone throws RangeError.
 */
export function freeSlots(rules: PageRules, isClear: IsClear, window: SlotWindow): Slot[] {
  return freeStarts(rules, isClear, window).map((start) => ({
    start_at: new Date(start).toISOString(),
    end_at: new Date(start + rules.duration_minutes * minute_ms).toISOString(),
  }))
}

/** Whether `freeSlots` offers this start. The check sees only times within the buffer of the slot. */
export function isFreeSlot(rules: PageRules, isClear: IsClear, start_ms: number, now_ms: number): boolean {
  return freeStarts(rules, isClear, { from_ms: start_ms, to_ms: start_ms + 1, now_ms })[0] === start_ms
}

// Later than any window of starts ends.
const far_days = 1000

/** All starts of a page in [from, to), whether or not they can be booked. */
export const startsOf = (rules: PageRules, from_ms: number, to_ms: number): number[] =>
  freeStarts({ ...rules, minimum_notice_minutes: 0, horizon_days: far_days }, () => true, {
    from_ms,
    to_ms,
    now_ms: from_ms,
  })

/** Why a page offers no slot at a time. */
export type ClosedCode = 'closed' | 'date_override' | 'not_a_start' | 'notice' | 'horizon'

/** Why the rules of a page do not offer a time; empty if they do. */
export function openAt(rules: PageRules, start_ms: number, now_ms: number): ClosedCode[] {
  const { time_zone, duration_minutes, minimum_notice_minutes, horizon_days, date_overrides } = rules
  const end_ms = start_ms + duration_minutes * minute_ms
  const codes: ClosedCode[] = []
  if (!startsOf(rules, start_ms, start_ms + 1).includes(start_ms)) {
    const isOverridden = (at_ms: number) =>
      new Date(wallAt(at_ms, time_zone)).toISOString().slice(0, 10) in date_overrides
    if (isOpen(rules, start_ms, end_ms)) codes.push('not_a_start')
    else codes.push(isOverridden(start_ms) || isOverridden(end_ms - 1) ? 'date_override' : 'closed')
  }
  if (start_ms < now_ms + minimum_notice_minutes * minute_ms) codes.push('notice')
  if (dayOf(start_ms, time_zone) > dayOf(now_ms, time_zone) + horizon_days) codes.push('horizon')
  return codes
}

/** Whether a page is open from one time to another. */
function isOpen(rules: PageRules, start_ms: number, end_ms: number): boolean {
  const day = Math.floor(start_ms / day_ms)
  const spans = spansOfDays(rules, day - 2, day + 3)
  const periods = offsetPeriods(rules.time_zone, (day - 12) * day_ms, (day + 5) * day_ms)
  return spans.some((span) =>
    piecesOf(span, periods).some(
      (piece) => start_ms >= piece.start_ms && start_ms < piece.end_ms && end_ms <= piece.until_ms,
    ),
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const time_patterns = {
  from: /^(?:[01]\d|2[0-3]):[0-5]\d$/,
  to: /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/,
}

function intervalProblems(field: string, value: unknown): Problem[] {
  const problem = (name: string, code: FieldCode, text: string) => {
    const at = name ? `${field}.${name}` : field
    return { field: at, code, message: `${at} ${text}.` }
  }
  if (!isRecord(value)) return [problem('', 'invalid_type', 'must be an object with from and to')]
  const problems = Object.keys(value)
    .filter((name) => name !== 'from' && name !== 'to')
    .map((name) => problem(name, 'unknown_field', 'is not a field of an interval; it has from and to'))
  for (const name of ['from', 'to'] as const) {
    const time = value[name]
    if (time === undefined || time === null) problems.push(problem(name, 'required', 'is required'))
    else if (typeof time !== 'string') problems.push(problem(name, 'invalid_type', 'must be a string'))
    else if (!time_patterns[name].test(time))
      problems.push(
        problem(
          name,
          'invalid_format',
          `must be a time such as ${name === 'to' ? '17:30, at most 24:00' : '09:00, at most 23:59'}`,
        ),
      )
  }
  if (problems.length === 0 && String(value.from) >= String(value.to))
    problems.push(problem('to', 'invalid_interval', 'must be later than from'))
  return problems
}

function dayProblems(field: string, value: unknown): Problem[] {
  if (!Array.isArray(value))
    return [{ field, code: 'invalid_type', message: `${field} must be a list of intervals.` }]
  const problems = value.flatMap((interval, i) => intervalProblems(`${field}.${i}`, interval))
  if (problems.length > 0) return problems
  const sorted = (value as Interval[])
    .map((interval, i) => ({ ...interval, at: `${field}.${i}` }))
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))
  let until = ''
  for (const { from, to, at } of sorted) {
    if (from < until)
      problems.push({
        field: at,
        code: 'overlapping_intervals',
        message: `${at} overlaps another interval of this day.`,
      })
    if (to > until) until = to
  }
  return problems
}

function daysProblems(
  field: string,
  value: unknown,
  unknownDay: (name: string) => { code: FieldCode; text: string } | null,
): Problem[] {
  // The schema checks whether the field is required.
  if (value === undefined || value === null) return []
  if (!isRecord(value)) return [{ field, code: 'invalid_type', message: `${field} must be an object.` }]
  return Object.entries(value).flatMap(([name, intervals]) => {
    const at = `${field}.${name}`
    const wrong = unknownDay(name)
    return wrong
      ? [{ field: at, code: wrong.code, message: `${at} ${wrong.text}.` }]
      : dayProblems(at, intervals)
  })
}

/** All problems of a page's zone, availability and date overrides that its JSON schema cannot find. Takes any JSON. */
export function ruleProblems(rules: unknown): Problem[] {
  if (!isRecord(rules)) return []
  const { time_zone, availability, date_overrides } = rules
  const problems: Problem[] = []
  if (time_zone !== undefined && time_zone !== null && canonicalTimeZone(time_zone) === null)
    problems.push({
      field: 'time_zone',
      code: 'unknown_time_zone',
      message: 'time_zone must be the name of an IANA time zone, such as Europe/Berlin, not an offset.',
    })
  return [
    ...problems,
    ...daysProblems('availability', availability, (name) =>
      (weekdays as readonly string[]).includes(name)
        ? null
        : { code: 'unknown_field', text: `is not a weekday. The weekdays are ${weekdays.join(', ')}` },
    ),
    ...daysProblems('date_overrides', date_overrides, (name) =>
      isDay(name) ? null : { code: 'invalid_format', text: `must be ${formats.day}` },
    ),
  ]
}
