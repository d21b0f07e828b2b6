import { currencyDigits } from './currency-digits.ts'
import { zonedFormat } from './zones.ts'

const day_s = 86_400
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * day_s],
  ['month', 30 * day_s],
  ['week', 7 * day_s],
  ['day', day_s],
  ['hour', 3600],
  ['minute', 60],
]

/** The locale for dates and numbers: the browser's region if it is of the chosen language. */
export function localeOf(language: string, wanted: readonly string[] = navigator.languages): string {
  return wanted.find((tag) => tag.toLowerCase().startsWith(language)) ?? language
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The formats of a locale, a time zone and a currency. Each is made at its first use: a page needs a few of them. */
export function createFormats(locale: string, zone: string, currency: string) {
  const dates = (options: Intl.DateTimeFormatOptions, by = locale) =>
    once(() => new Intl.DateTimeFormat(by, { timeZone: 'UTC', ...options }))
  const times = (options: Intl.DateTimeFormatOptions, by = locale) => {
    const format = zonedFormat(by, zone, options)
    return (at: string | number) => format(typeof at === 'string' ? Date.parse(at) : at)
  }
  const numbers = (options?: Intl.NumberFormatOptions) => once(() => new Intl.NumberFormat(locale, options))
  const amounts = (options?: Intl.NumberFormatOptions) => numbers({ style: 'currency', currency, ...options })
  const plain_day = dates({ dateStyle: 'medium' })
  const short_day = dates({ day: 'numeric', month: 'short' })
  const month = dates({ month: 'short', year: '2-digit' })
  const month_name = dates({ month: 'short' })
  const long_month = dates({ month: 'long', year: 'numeric' })
  const day = times({ dateStyle: 'medium' })
  const weekday = times({ weekday: 'short', day: 'numeric', month: 'short' })
  const moment = times({ dateStyle: 'medium', timeStyle: 'short' })
  const exact = times({ dateStyle: 'full', timeStyle: 'long' })
  const time = times({ timeStyle: 'short' })
  const seconds = times({ timeStyle: 'medium' })
  const iso_day = times({}, 'sv-SE')
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))
  const counted = once(() => new Intl.RelativeTimeFormat(locale, { style: 'short' }))
  const digits = currencyDigits(currency)
  const money = amounts({ minimumFractionDigits: digits, maximumFractionDigits: digits })
  const whole_money = amounts({ maximumFractionDigits: 0 })
  const exact_money = amounts({ minimumFractionDigits: digits, maximumFractionDigits: 4 })
  const short_money = amounts({ notation: 'compact' })
  const number = numbers()
  const percent = numbers({ style: 'percent', maximumFractionDigits: 1 })
  const shortDate = (date: string) => short_day().format(new Date(`${date}T00:00:00Z`))
  return {
    locale,
    zone,
    currency,
    /** The day of a time, in this zone. */
    day: (iso: string) => day(iso),
    /** A calendar day (YYYY-MM-DD), independent of zones. */
    date: (date: string) => plain_day().format(new Date(`${date}T00:00:00Z`)),
    /** The same without its year. */
    shortDate,
    /** With the weekday, without the year. */
    weekday: (iso: string) => weekday(iso),
    moment: (iso: string) => moment(iso),
    /** The same without its year. */
    shortMoment: (iso: string) => `${shortDate(iso_day(iso))}, ${time(iso)}`,
    exact: (iso: string) => exact(iso),
    time: (iso: string) => time(iso),
    seconds: (iso: string) => seconds(iso),
    /** A month, YYYY-MM. */
    month: (text: string) => month().format(new Date(`${text}-01T00:00:00Z`)),
    /** Its short name, without the year. */
    monthName: (text: string) => month_name().format(new Date(`${text}-01T00:00:00Z`)),
    /** In full, with the year. */
    longMonth: (text: string) => long_month().format(new Date(`${text}-01T00:00:00Z`)),
    /** The time from now. Yesterday is the previous calendar day, not 24 hours ago. */
    relative(iso: string, now_ms = Date.now()) {
      const s = Math.round((Date.parse(iso) - now_ms) / 1000)
      const [unit, size] = units.find(([, size]) => Math.abs(s) >= size) ?? ['second', 1]
      if (unit !== 'day') return (size > day_s ? counted() : relative()).format(Math.trunc(s / size), unit)
      const dayOf = (at: number | string) => Date.parse(iso_day(at))
      return relative().format((dayOf(iso) - dayOf(now_ms)) / (day_s * 1000), unit)
    },
    /** An amount with the decimals of its currency; whole amounts without. */
    money: (value: number) => (Number.isInteger(value) ? whole_money() : money()).format(value),
    /** The same with up to four decimals, the precision of the service. */
    exactMoney: (value: number) => (Number.isInteger(value) ? whole_money() : exact_money()).format(value),
    /** A sum or a forecast, rounded to whole units. */
    sum: (value: number) => whole_money().format(value),
    shortMoney: (value: number) => short_money().format(value),
    number: (value: number) => number().format(value),
    /** A count where space is short: 999, 1.2k, 12k. */
    shortCount(value: number) {
      if (value < 1000) return number().format(value)
      const tenths = value < 9950 ? 10 : 1
      return `${number().format(Math.round((value / 1000) * tenths) / tenths)}k`
    },
    /** A share from 0 to 1. */
    percent: (share: number) => percent().format(share),
    /** Today as a calendar day (YYYY-MM-DD), in this zone. */
    today: () => iso_day(Date.now()),
  }
}
export type Formats = ReturnType<typeof createFormats>
