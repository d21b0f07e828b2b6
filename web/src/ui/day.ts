type Part = 'day' | 'month' | 'year'

/** The order of the parts of a day in a locale, and the separators between them. */
function partsOf(locale: string) {
  const numeric = { day: '2-digit', month: '2-digit', year: 'numeric', timeZone: 'UTC' } as const
  const parts = new Intl.DateTimeFormat(locale, { ...numeric, calendar: 'gregory' }).formatToParts(0)
  return parts.map(({ type, value }) =>
    type === 'day' || type === 'month' || type === 'year' ? type : { between: value },
  )
}

/** A day (YYYY-MM-DD) as the locale writes it. With `letters`, the pattern: DD/MM/YYYY. */
export function writeDay(day: string | Record<Part, string>, locale: string): string {
  const [year = '', month = '', date = ''] = typeof day === 'string' ? day.split('-') : []
  const parts = typeof day === 'string' ? { year, month, day: date } : day
  return partsOf(locale)
    .map((part) => (typeof part === 'string' ? parts[part] : part.between))
    .join('')
}

/**
 * Parses a whole text as a day, to YYYY-MM-DD: year first, day first with dots, else in the order of the
 * locale. The year needs four digits. Null for a missing part or a day that does not exist.
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

/** Whether a locale uses a 12-hour clock. */
const halves = (locale: string) =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hour12 === true

/** A time (HH:MM) as the locale writes it: 14:30 or 2:30 PM. Any other text is unchanged. */
export function writeTime(time: string, locale: string): string {
  const [hour = '', minute = ''] = time.split(':')
  if (!/^\d\d:\d\d$/.test(time) || !halves(locale)) return time
  return `${Number(hour) % 12 || 12}:${minute} ${Number(hour) % 24 < 12 ? 'AM' : 'PM'}`
}

/**
 * Parses a text as a time, to HH:MM: 14:30, 14.30, 1430, 14, 2:30 pm. 24:00 is the end of a day. Null if
 * invalid.
 */
export function readTime(text: string): string | null {
  const found = /^(\d{1,2})(?:[:.h]?(\d\d))?\s*(?:uhr|([ap])\.?\s?m\.?)?$/i.exec(text.trim())
  if (!found) return null
  const [, said = '', minute = '00', half] = found
  const hour = half ? (Number(said) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(said)
  if ((half && (said === '0' || Number(said) > 12)) || Number(minute) > 59) return null
  return hour < 24 || (hour === 24 && minute === '00') ? `${String(hour).padStart(2, '0')}:${minute}` : null
}

/** A day with a time (YYYY-MM-DDTHH:MM) as the locale writes it. */
export function writeMoment(moment: string, locale: string): string {
  const [day = '', time = ''] = moment.split('T')
  return `${writeDay(day, locale)} ${writeTime(time, locale)}`
}

/** Parses a text as a day with a time, to YYYY-MM-DDTHH:MM. Null if one of them is missing or invalid. */
export function readMoment(text: string, locale: string): string | null {
  const [, said_day = '', said_time = ''] =
    /^(.*[\d.])(?:[T,]\s*|\s+)(\d{1,2}(?:[:.h]?\d\d)?(?:\s*[a-z.\s]+)?)$/i.exec(text.trim()) ?? []
  const [day, time] = [readDay(said_day, locale), readTime(said_time)]
  return day && time && time !== '24:00' ? `${day}T${time}` : null
}
