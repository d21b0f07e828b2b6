type Part = 'day' | 'month' | 'year'

/** In which order, and with what between them, a locale writes the parts of a day. */
function partsOf(locale: string) {
  const numeric = { day: '2-digit', month: '2-digit', year: 'numeric', timeZone: 'UTC' } as const
  const parts = new Intl.DateTimeFormat(locale, { ...numeric, calendar: 'gregory' }).formatToParts(0)
  return parts.map(({ type, value }) =>
    type === 'day' || type === 'month' || type === 'year' ? type : { between: value },
  )
}

/** A day, YYYY-MM-DD, as it is typed in a locale; `letters` in place of a day tells the form: DD/MM/YYYY. */
export function writeDay(day: string | Record<Part, string>, locale: string): string {
  const [year = '', month = '', date = ''] = typeof day === 'string' ? day.split('-') : []
  const told = typeof day === 'string' ? { year, month, day: date } : day
  return partsOf(locale)
    .map((part) => (typeof part === 'string' ? told[part] : part.between))
    .join('')
}

/**
 * The day that a text says as a whole, as YYYY-MM-DD: year first, day first with points between, else in the locale's order;
 * the year with four digits. Null when a part is missing or there is no such day.
 */
export function readDay(text: string, locale: string): string | null {
  const found = /^(\d+)\s*([./-])\s*(\d+)\s*\2\s*(\d+)\.?$/.exec(text.trim())
  if (!found) return null
  const [, first = '', between, second, third] = found
  const numbers = [first, second, third]
  const order: Part[] =
    first.length === 4
      ? ['year', 'month', 'day']
      : between === '.'
        ? ['day', 'month', 'year']
        : partsOf(locale).filter((part) => typeof part === 'string')
  const said = (part: Part) => numbers[order.indexOf(part)] ?? ''
  const [year, month, date] = [said('year'), said('month'), said('day')]
  if (year.length !== 4 || month.length > 2 || date.length > 2) return null
  const day = `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day) ? day : null
}
