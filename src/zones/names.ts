import { Temporal } from 'temporal-polyfill'
import { shipped } from './data.ts'

/** The canonical capitals of a zone's name, or null for an unknown zone. Links such as Asia/Calcutta are not resolved. */
export function canonicalTimeZone(name: unknown): string | null {
  // Temporal also accepts offsets and timestamps, which have no clock changes.
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_+-]*(?:\/[a-z0-9_+-]+)*$/i.test(name)) return null
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch {
    return shippedName(name.toLowerCase())
  }
}

/** A zone that is newer than the data of Node. */
const shippedName = (lower_case: string): string | null =>
  zoneNames().find((name) => name.toLowerCase() === lower_case) ?? null

/** The names of all zones with a place, by today's names, and UTC. */
export const zoneNames = (): string[] => [...Object.keys(shipped().zones), 'UTC']

/** Today's name of a zone: Asia/Kolkata for Asia/Calcutta. Browsers know some zones by outdated names only. */
export const todaysName = (zone: string): string => shipped().links[zone] ?? zone
