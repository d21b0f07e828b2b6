import type { FieldProblem } from '../../errors.ts'
import { canonicalTimeZone } from '../../zones/names.ts'
import { currencies } from './currencies.ts'

/** A body with the canonical name of its time zone. An invalid name stays, and `localeProblems` reports it. */
export const withCanonicalTimeZone = <T extends { time_zone?: string | null | undefined }>(body: T): T => {
  const time_zone = canonicalTimeZone(body.time_zone)
  return time_zone === null ? body : { ...body, time_zone }
}

/** Problems of a time zone and a currency that the schema cannot find. */
export function localeProblems({
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
