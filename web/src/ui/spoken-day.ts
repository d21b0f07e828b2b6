import { addDays } from '../app/zones.ts'
import { readTime } from './day.ts'

// English and German, whatever the language of the person: no word means two days.
const months = [
  ['january', 'januar', 'janner'],
  ['february', 'februar'],
  ['march', 'marz', 'maerz', 'mrz'],
  ['april'],
  ['may', 'mai'],
  ['june', 'juni'],
  ['july', 'juli'],
  ['august'],
  ['september'],
  ['october', 'oktober'],
  ['november'],
  ['december', 'dezember'],
]
const weekdays = [
  ['monday', 'montag'],
  ['tuesday', 'dienstag'],
  ['wednesday', 'mittwoch'],
  ['thursday', 'donnerstag'],
  ['friday', 'freitag'],
  ['saturday', 'samstag', 'sonnabend'],
  ['sunday', 'sonntag'],
]
const near: Record<string, number> = {
  'day before yesterday': -2,
  vorgestern: -2,
  yesterday: -1,
  gestern: -1,
  today: 0,
  heute: 0,
  tomorrow: 1,
  morgen: 1,
  'day after tomorrow': 2,
  ubermorgen: 2,
  uebermorgen: 2,
}
const steps = [
  { words: /^(d|days?|t|tage?n?)$/, days: 1 },
  { words: /^(w|weeks?|wochen?)$/, days: 7 },
  { words: /^(m|months?|monate?n?)$/, months: 1 },
  { words: /^(y|years?|j|jahre?n?)$/, months: 12 },
]

/** The position of a word, or of its first letters, in a table; -1 if it stands for none or for two. */
function positionOf(word: string, table: string[][], least: number): number {
  if (word.length < least) return -1
  const fits = table.flatMap((names, index) => (names.some((name) => name.startsWith(word)) ? [index] : []))
  return fits.length === 1 ? (fits[0] ?? -1) : -1
}

/** The day, if it exists. */
function dayOf(year: number, month: number, date: number): string | null {
  const [mm, dd] = [month, date].map((part) => String(part).padStart(2, '0'))
  const day = `${year}-${mm}-${dd}`
  const at = new Date(`${day}T00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day) ? day : null
}

/** The day after a number of months, or the last one of its month. */
function addMonths(day: string, count: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 + count, 1))
  const last = new Date(Date.UTC(year, month + count, 0)).getUTCDate()
  return addDays(first.toISOString().slice(0, 10), Math.min(date, last) - 1)
}

/** +7d, in 3 days, in einer Woche. */
function readStep(text: string, today: string): string | null {
  const found = /^(?:in |([+-]) ?)(\d{1,3}|an?|one|einem|einer) ?([a-z]+)$/.exec(text)
  if (!found) return null
  const [, sign, said = '', unit = ''] = found
  const step = steps.find(({ words }) => words.test(unit))
  if (!step) return null
  const count = (/^\d/.test(said) ? Number(said) : 1) * (sign === '-' ? -1 : 1)
  return step.days ? addDays(today, count * step.days) : addMonths(today, count * (step.months ?? 0))
}

/** 24 Dec, 24. Dez, December 24th: without a year, the next one. */
function readDate(text: string, today: string): string | null {
  const day_first = /^(\d{1,2})(?:\.|st|nd|rd|th)? ?(?:of )?([a-z]{3,})\.?,? ?(\d{4})?$/.exec(text)
  const month_first = /^([a-z]{3,})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?$/.exec(text)
  const [date, word = '', year] = day_first?.slice(1) ?? [
    month_first?.[2],
    month_first?.[1],
    month_first?.[3],
  ]
  const month = positionOf(word, months, 3) + 1
  if (!date || !month) return null
  if (year) return dayOf(Number(year), month, Number(date))
  const this_year = Number(today.slice(0, 4))
  // 29 February may be some years away.
  for (let next = this_year; next <= this_year + 8; next++) {
    const day = dayOf(next, month, Number(date))
    if (day && day >= today) return day
  }
  return null
}

/**
 * Monday, kommenden Montag: the first one after today. "Next" is refused for a day of this week that is still
 * to come: people mean either this one or that of next week.
 */
function readWeekday(text: string, today: string): string | null {
  const found = /^(?:(next|nachste[rn]?)|on|this|am|diesen|kommenden)? ?([a-z]+)\.?$/.exec(text)
  const now = (new Date(`${today}T00:00Z`).getUTCDay() + 6) % 7
  if (found?.[1] && /^(week|woche)$/.test(found[2] ?? '')) return addDays(today, 7 - now)
  const weekday = positionOf(found?.[2] ?? '', weekdays, 2)
  if (weekday < 0 || (found?.[1] && weekday > now)) return null
  return addDays(today, ((weekday - now + 6) % 7) + 1)
}

const plain = (text: string) =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll(/\s+/g, ' ').trim()

/** Parses a day in words of English or German, to YYYY-MM-DD. Null if there is none, or if it may be another one. */
export function readSpokenDay(text: string, today: string): string | null {
  const said = plain(text).replace(/^the /, '')
  const days = Object.hasOwn(near, said) ? near[said] : undefined
  if (days !== undefined) return addDays(today, days)
  return readStep(said, today) ?? readDate(said, today) ?? readWeekday(said, today)
}

/**
 * Parses a day in words with or without a time, to YYYY-MM-DDTHH:MM. Without one, it gets the time of
 * `before`.
 */
export function readSpokenMoment(text: string, today: string, before: string): string | null {
  const whole = readSpokenDay(text, today)
  if (whole) return `${whole}T${before}`
  const words = text.trim().split(/\s+/)
  for (let at = 1; at < words.length; at++) {
    const day = readSpokenDay(words.slice(0, at).join(' ').replace(/,$/, ''), today)
    const time = readTime(
      words
        .slice(at)
        .join(' ')
        .replace(/^(at|um) /i, ''),
    )
    if (day && time && time !== '24:00') return `${day}T${time}`
  }
  return null
}
