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
