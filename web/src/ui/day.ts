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

/** Whether a locale counts the hours to twelve. */
const halves = (locale: string) =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions().hour12 === true

/** A time, HH:MM, as it is typed in a locale: 14:30 or 2:30 PM. What is none stays as it is. */
export function writeTime(time: string, locale: string): string {
  const [hour = '', minute = ''] = time.split(':')
  if (!/^\d\d:\d\d$/.test(time) || !halves(locale)) return time
  return `${Number(hour) % 12 || 12}:${minute} ${Number(hour) % 24 < 12 ? 'AM' : 'PM'}`
}

/** The time that a text says, as HH:MM: 14:30, 14.30, 1430, 14, 2:30 pm; 24:00 is the end of a day. Null when it says none. */
export function readTime(text: string): string | null {
  const found = /^(\d{1,2})(?:[:.h]?(\d\d))?\s*(?:uhr|([ap])\.?\s?m\.?)?$/i.exec(text.trim())
  if (!found) return null
  const [, said = '', minute = '00', half] = found
  const hour = half ? (Number(said) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(said)
  if ((half && (said === '0' || Number(said) > 12)) || Number(minute) > 59) return null
  return hour < 24 || (hour === 24 && minute === '00') ? `${String(hour).padStart(2, '0')}:${minute}` : null
}

/** A day with a time, YYYY-MM-DDTHH:MM, as it is typed in a locale. */
export function writeMoment(moment: string, locale: string): string {
  const [day = '', time = ''] = moment.split('T')
  return `${writeDay(day, locale)} ${writeTime(time, locale)}`
}

/** The day with its time that a text says, as YYYY-MM-DDTHH:MM; null when one of the two is missing or is none. */
export function readMoment(text: string, locale: string): string | null {
  const [, said_day = '', said_time = ''] =
    /^(.*[\d.])(?:[T,]\s*|\s+)(\d{1,2}(?:[:.h]?\d\d)?(?:\s*[a-z.\s]+)?)$/i.exec(text.trim()) ?? []
  const [day, time] = [readDay(said_day, locale), readTime(said_time)]
  return day && time && time !== '24:00' ? `${day}T${time}` : null
}
