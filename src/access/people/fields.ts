import type { FieldProblem } from '../../http/errors.ts'
import { canonicalTimeZone } from '../../resources/booking-pages/availability.ts'

/** A time zone as it is stored: in its usual capitals. What is none stays as it is, for placeProblems. */
export const placed = <T extends { time_zone?: string | null | undefined }>(body: T): T => {
  const time_zone = canonicalTimeZone(body.time_zone)
  return time_zone === null ? body : { ...body, time_zone }
}

const currencies = new Set(Intl.supportedValuesOf('currency'))

/** What the schema cannot know of a time zone and a currency. */
export function placeProblems({
  time_zone,
  currency,
}: {
  time_zone?: unknown
  currency?: unknown
}): FieldProblem[] {
  const problems: FieldProblem[] = []
  const add = (field: string, message: string) => problems.push({ field, code: 'unknown_value', message })
  if (typeof time_zone === 'string' && canonicalTimeZone(time_zone) === null)
    add('time_zone', 'time_zone must be an IANA time zone such as Europe/Berlin.')
  if (typeof currency === 'string' && !currencies.has(currency))
    add('currency', 'currency must be a code of ISO 4217 such as EUR.')
  return problems
}
