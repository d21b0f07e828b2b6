import { canonicalTimeZone } from '../zones/names.ts'
import type { Change } from '../zones/posix-rule.ts'
import { tabledZone, type Zone } from '../zones/zone.ts'
import { zoneOf } from '../zones/zones.ts'
import { all, type Component, first, textOf, timeOf, utc } from './properties.ts'
import { type WallWindow, wallTimesOf } from './rule.ts'

/**
 * Finds the clock of a TZID: by the file's own VTIMEZONE, else by an IANA name, else by a name of Windows. Null: unknown.
 * The changes of a VTIMEZONE are those within the window, and the last ones before it.
 */
export function zoneFinder(
  definitions: readonly Component[],
  ianaOf: (windows_name: string) => string | undefined,
  window: WallWindow,
): (tzid: string) => Zone | null {
  const defined = new Map(definitions.map((one) => [textOf(one, 'tzid'), one]))
  const known = new Map<string, Zone | null>()
  return (tzid) => {
    const found = known.get(tzid)
    if (found !== undefined) return found
    const definition = defined.get(tzid)
    const zone = (definition && definedZone(definition, window)) ?? namedZone(tzid, ianaOf)
    known.set(tzid, zone)
    return zone
  }
}

function namedZone(tzid: string, ianaOf: (windows_name: string) => string | undefined): Zone | null {
  // Some programs write a path before the name, such as /example.org/Europe/Berlin or tzone://Microsoft/Utc.
  const end = /^(?:\/.*?|tzone:\/\/Microsoft)\/([A-Za-z_]+(?:\/[A-Za-z_]+){0,2})$/i.exec(tzid)?.[1]
  for (const name of [tzid, ianaOf(tzid), end]) {
    const canonical = canonicalTimeZone(name)
    if (canonical !== null) return zoneOf(canonical)
  }
  return null
}

const year_ms = 366 * 86_400_000

/** The clock that a VTIMEZONE describes (RFC 5545, 3.6.5); null if it describes none. */
function definedZone({ parts }: Component, { from_ms, to_ms }: WallWindow): Zone | null {
  const changes: (Change & { before_ms: number })[] = []
  for (const part of parts) {
    const [before_ms, offset_ms] = [offsetOf(part, 'tzoffsetfrom'), offsetOf(part, 'tzoffsetto')]
    if (before_ms === null || offset_ms === null) return null
    const local = { offsetAt: () => before_ms, changeAfter: () => null }
    const clocks = { zoneOf: () => utc, local }
    const start = timeOf(textOf(part, 'dtstart'), {}, clocks)
    const rules = all(part, 'rrule').flatMap((rule) =>
      wallTimesOf(start, rule, { from_ms: from_ms - year_ms, to_ms: to_ms + year_ms }),
    )
    const dates = all(part, 'rdate').flatMap(({ values }) =>
      values.map((value) => timeOf(value, {}, clocks).wall_ms),
    )
    for (const wall_ms of new Set([start.wall_ms, ...rules, ...dates]))
      changes.push({ at_ms: wall_ms - before_ms, offset_ms, before_ms })
  }
  changes.sort((a, b) => a.at_ms - b.at_ms)
  const [earliest] = changes
  return earliest ? tabledZone({ first_ms: earliest.before_ms, changes, rule: '' }) : null
}

/** The ms of a UTC-OFFSET (RFC 5545, 3.3.14), which jCal writes with colons: -03:30. */
function offsetOf(part: Component, name: string): number | null {
  const found = /^([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(String(first(part, name)?.values[0]))
  if (!found) return null
  const [, sign, hours, minutes, seconds = 0] = found
  return (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
}
