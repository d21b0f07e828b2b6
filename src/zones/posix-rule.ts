/** A time at which the clock of a zone changes, and the offset from then on, in ms. Wall clock = UTC + offset. */
export type Change = { at_ms: number; offset_ms: number }

/** The changes of a year, in no order; none without summer time. */
export type Rule = (year: number) => Change[]

const second = 1000
const day_ms = 86_400_000
const hour_ms = 3_600_000

const name = '(?:[A-Za-z]{3,}|<[\\w+-]+>)'
const time = '[+-]?\\d{1,3}(?::\\d\\d){0,2}'
const day = `(?:J?\\d{1,3}|M\\d{1,2}\\.\\d\\.\\d)(?:/${time})?`
const pattern = new RegExp(`^${name}(${time})(?:${name}(${time})?,(${day}),(${day}))?$`)

/**
 * Reads the rule at the end of a zone file, such as CET-1CEST,M3.5.0,M10.5.0/3 (POSIX TZ, with the hours of RFC 9636,
 * section 3.3.1). Null for another text.
 */
export function parseRule(text: string): Rule | null {
  const found = pattern.exec(text)
  if (!found) return null
  const [, standard = '', summer, start, end] = found
  // POSIX counts the hours from the zone to UTC.
  const offset_ms = 0 - timeOf(standard)
  if (!start || !end) return () => []
  const summer_ms = summer ? 0 - timeOf(summer) : offset_ms + hour_ms
  const [startIn, endIn] = [dayRule(start), dayRule(end)]
  return (year) => [
    { at_ms: startIn(year) - offset_ms, offset_ms: summer_ms },
    { at_ms: endIn(year) - summer_ms, offset_ms },
  ]
}

function timeOf(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace(/^[+-]/, '').split(':').map(Number)
  return (text.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds) * second
}

/** The wall clock time of a rule's day in a year, as if it were in UTC. */
function dayRule(text: string): (year: number) => number {
  const [on = '', at = '2'] = text.split('/')
  const at_ms = timeOf(at)
  const [first = 0, week = 0, weekday = 0] = on.replace(/^[JM]/, '').split('.').map(Number)
  if (on.startsWith('M')) return (year) => weekdayOf(year, first, week, weekday) + at_ms
  // The days of Jn never count 29 February; those of n count from 0.
  if (on.startsWith('J'))
    return (year) => Date.UTC(year, 0, first + (first > 59 && isLeap(year) ? 1 : 0)) + at_ms
  return (year) => Date.UTC(year, 0, first + 1) + at_ms
}

const isLeap = (year: number) => new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1

/** The n-th weekday of a month; the fifth is the last one. Sunday is 0, and January is 1. */
function weekdayOf(year: number, month: number, n: number, weekday: number): number {
  const first = new Date(Date.UTC(year, month - 1, 1))
  const days = ((weekday - first.getUTCDay() + 7) % 7) + (n - 1) * 7
  const in_month = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return first.getTime() + (days < in_month ? days : days - 7) * day_ms
}
