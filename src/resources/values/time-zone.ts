import { Type } from 'typebox'
import { invalid } from '../../errors.ts'
import { canonicalTimeZone } from '../../zones/names.ts'

/** The parameter with the time zone of a report, or of the groups of a list. */
export const time_zone = Type.String({
  default: 'UTC',
  maxLength: 64,
  description: 'The IANA name of the time zone that decides days and months.',
  examples: ['Europe/Berlin'],
})

/** The canonical name of the requested time zone. Throws 422 for an unknown one. */
export function zoneOf({ time_zone }: { time_zone: string }): string {
  // The default of every list needs no look-up.
  const zone = time_zone === 'UTC' ? time_zone : canonicalTimeZone(time_zone)
  if (zone !== null) return zone
  throw invalid([
    {
      field: 'time_zone',
      code: 'unknown_time_zone',
      message: 'time_zone must be the name of an IANA time zone, such as Europe/Berlin, not an offset.',
    },
  ])
}
