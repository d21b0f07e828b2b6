import { Temporal } from 'temporal-polyfill'
import { type Change, parseRule } from './posix-rule.ts'

/** The clock of a zone, by one set of data. Times are milliseconds since 1970. */
export type Zone = {
  /** Wall clock = UTC + offset, in ms. */
  offsetAt(at_ms: number): number
  /** The next change of the clock after a time; null if there is none. */
  changeAfter(at_ms: number): number | null
}

/** A zone as data: the offset before the first change, the changes in their order, and the rule after them. */
export type ZoneTable = { first_ms: number; changes: readonly Change[]; rule: string }

const max_years = 200

/** The clock of a table. A rule that cannot be read keeps the last offset. */
export function tabledZone({ first_ms, changes, rule: text }: ZoneTable): Zone {
  const rule = parseRule(text)
  const last = changes.at(-1)
  const listed_until_ms = last?.at_ms ?? Number.NEGATIVE_INFINITY
  // The changes around the times of a year, by the year.
  const known = new Map<number, readonly Change[]>()
  function around(at_ms: number): readonly Change[] {
    if (!rule || at_ms < listed_until_ms) return changes
    const year = new Date(at_ms).getUTCFullYear()
    const found = known.get(year)
    if (found) return found
    const later = [year - 1, year, year + 1].flatMap(rule)
    const all = [...(last ? [last] : []), ...later.filter((one) => one.at_ms > listed_until_ms).sort(byTime)]
    if (known.size >= max_years) known.clear()
    known.set(year, all)
    return all
  }
  return {
    offsetAt: (at_ms) => around(at_ms).findLast((one) => one.at_ms <= at_ms)?.offset_ms ?? first_ms,
    changeAfter(at_ms) {
      const next = around(at_ms).find((one) => one.at_ms > at_ms)
      return next?.at_ms ?? null
    },
  }
}

const byTime = (a: Change, b: Change) => a.at_ms - b.at_ms

/** The clock of a zone by the data of Node; null for a name that Node does not have. */
export function zoneOfNode(name: string): Zone | null {
  // Temporal refuses fractions of a millisecond, which a steady clock has.
  const at = (at_ms: number) =>
    Temporal.Instant.fromEpochMilliseconds(Math.floor(at_ms)).toZonedDateTimeISO(name)
  try {
    at(0)
  } catch {
    return null
  }
  return {
    offsetAt: (at_ms) => at(at_ms).offsetNanoseconds / 1_000_000,
    changeAfter: (at_ms) => at(at_ms).getTimeZoneTransition('next')?.epochMilliseconds ?? null,
  }
}

/** One zone before a time, and another one from it on. */
export const joinedZone = (before: Zone, after: Zone, from_ms: number): Zone => ({
  offsetAt: (at_ms) => (at_ms < from_ms ? before : after).offsetAt(at_ms),
  changeAfter(at_ms) {
    const early = at_ms < from_ms ? before.changeAfter(at_ms) : null
    return early !== null && early < from_ms ? early : after.changeAfter(Math.max(at_ms, from_ms - 1))
  },
})
