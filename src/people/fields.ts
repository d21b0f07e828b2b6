import type { FieldProblem } from '../http/errors.ts'

/** Whether IANA's database has a time zone of this name, as far as this program's copy of it goes. */
function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name })) && !/^[+-]/.test(name)
  } catch {
    return false
  }
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
  if (typeof time_zone === 'string' && !isZone(time_zone))
    add('time_zone', 'time_zone must be an IANA time zone such as Europe/Berlin.')
  if (typeof currency === 'string' && !currencies.has(currency))
    add('currency', 'currency must be a code of ISO 4217 such as EUR.')
  return problems
}
