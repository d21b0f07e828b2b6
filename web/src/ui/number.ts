/** The group and decimal separators of a locale. */
function signsOf(locale: string) {
  const parts = new Intl.NumberFormat(locale).formatToParts(12_345.5)
  const sign = (type: string) => parts.find((part) => part.type === type)?.value
  return { group: sign('group') ?? ' ', decimal: sign('decimal') ?? '.' }
}

/** A number as the locale writes it, with all decimals. */
export const writeNumber = (value: number, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value)

/**
 * Parses a number of the locale, with or without groups of thousands. Accepts the forms of other locales if
 * they are unambiguous. German 1.234 is 1234, and 1.5 is one and a half. Null if invalid.
 */
export function readNumber(text: string, locale: string): number | null {
  const { group, decimal } = signsOf(locale)
  const plain = text
    .trim()
    .replace(/^[−–]/, '-')
    .replace(/(?<=\d)[\s'’](?=\d{3})/g, group)
  const [, minus = '', digits = ''] = /^([-+]?)\s*(.*)$/.exec(plain) ?? []
  const [g, d] = [group, decimal].map((sign) => (sign === '.' || sign === ',' ? `[${sign}]` : sign))
  const other = decimal === ',' ? '.' : ','
  const forms: [form: string, group: string, decimal: string][] = [
    [`(\\d+|\\d{1,3}(${g}\\d{3})+)?(${d}\\d*)?`, group, decimal],
    // Separators of other locales: one that does not separate thousands, several of the same, or both.
    [`\\d*[${other}](\\d{1,2}|\\d{4,})`, decimal, other],
    [`\\d{1,3}(${d}\\d{3})+[${other}]\\d+|\\d{1,3}(${d}\\d{3}){2,}`, decimal, other],
    // Some locales group differently, such as 12,50,000.
    [`[\\d${group}${decimal}]+`, group, decimal],
  ]
  const found = forms.findIndex(([form]) => new RegExp(`^(${form})$`).test(digits))
  if (!/\d/.test(digits) || found < 0) return null
  const [, between = '', point = ''] = forms[found] ?? []
  const value = Number(minus + digits.replaceAll(between, '').replace(point, '.'))
  const own = found === forms.length - 1
  return Number.isFinite(value) && (!own || writeNumber(value, locale) === plain) ? value : null
}

const factors = { k: 1e3, tsd: 1e3, m: 1e6, mn: 1e6, mio: 1e6 }

/**
 * Parses an amount: a number, with or without the currency before or after it (€12,500, 12.500 EUR), and with
 * k, Tsd, m or Mio. Null for another currency.
 */
export function readAmount(text: string, locale: string, currency: string): number | null {
  const signs = (['symbol', 'narrowSymbol', 'code', 'name'] as const).map((currencyDisplay) => {
    const parts = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      currencyDisplay,
    }).formatToParts(2)
    return parts.find(({ type }) => type === 'currency')?.value.toLowerCase() ?? currency
  })
  const said = text.trim().toLowerCase()
  const sign = [...new Set(signs)].find((one) => said.startsWith(one) || said.endsWith(one)) ?? ''
  const without = said.startsWith(sign) ? said.slice(sign.length) : said.slice(0, -sign.length)
  const [, digits = '', unit = ''] = /^(.*?\d)\s*(k|tsd|mn|mio|m)?\.?$/.exec(without.trim()) ?? []
  const value = readNumber(digits || without, locale)
  if (value === null) return null
  // Four decimals are the most that the service stores.
  return unit ? Number((value * factors[unit as keyof typeof factors]).toFixed(4)) : value
}
