/** The signs with which a locale writes numbers: between groups of thousands, and before the decimals. */
function signsOf(locale: string) {
  const parts = new Intl.NumberFormat(locale).formatToParts(12_345.5)
  const sign = (type: string) => parts.find((part) => part.type === type)?.value
  return { group: sign('group') ?? ' ', decimal: sign('decimal') ?? '.' }
}

/** A number as it is typed in a locale, with all its decimals. */
export const writeNumber = (value: number, locale: string): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value)

/**
 * The number that a text says: as the locale writes it, with or without groups of thousands, else as other ones do where it
 * can be read in one way only. German 1.234 is a thousand and more, and 1.5 is one and a half. Null when it cannot be read.
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
    // With the signs of others: one that stands between no thousands, several of one, or both.
    [`\\d*[${other}](\\d{1,2}|\\d{4,})`, decimal, other],
    [`\\d{1,3}(${d}\\d{3})+[${other}]\\d+|\\d{1,3}(${d}\\d{3}){2,}`, decimal, other],
    // Some have groups of their own kind, such as 12,50,000.
    [`[\\d${group}${decimal}]+`, group, decimal],
  ]
  const found = forms.findIndex(([form]) => new RegExp(`^(${form})$`).test(digits))
  if (!/\d/.test(digits) || found < 0) return null
  const [, between = '', point = ''] = forms[found] ?? []
  const value = Number(minus + digits.replaceAll(between, '').replace(point, '.'))
  const own = found === forms.length - 1
  return Number.isFinite(value) && (!own || writeNumber(value, locale) === plain) ? value : null
}
