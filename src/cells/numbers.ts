// Numbers as people and programs write them: 1,250.50 and 1.250,50 and 1'250.50 and 12,34,567.50.

export type DecimalSign = '.' | ','

/** A number, or why a text has none: `two` readings, or `null` for another text. */
export type NumberReading = { value: number; percent: boolean; money: boolean } | 'two' | null

// Blanks (also U+00A0, U+2009 and U+202F) and apostrophes between digits separate thousands.
const thin = /(\d)[\s\u00a0\u2009\u202f'’](?=\d{3}(?!\d))/g
const plain = /^(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const western = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*$/
const indian = /^\d{1,2}(,\d\d)+,\d{3}$/
const unit = String.raw`%|\p{Sc}|[A-Z]{1,2}\$|[A-Z]{3}|Fr\.?|kr\.?|zł|Kč|Ft|лв\.?|руб\.?|Rs\.?|Rp|RM|R|TL`
// The currency stands before or behind, and the sign before or behind the currency.
const written = new RegExp(`^([+\\-−]?)\\s*(${unit})?\\s*([+\\-−]?[\\d.,].*?)\\s*(${unit})?\\s*(-?)$`, 'su')
const max_characters = 64
// Most numbers. The general way takes several times as long.
const bare = /^\d+(?:[.,]\d+)?$/

/** The parts of a text: sign, digits with their separators, percent, and whether it names a currency. Null: no number. */
function numberParts(
  text: string,
): { body: string; negative: boolean; percent: boolean; money: boolean } | null {
  let body = text.trim()
  if (!body || body.length > max_characters) return null
  if (bare.test(body)) return { body, negative: false, percent: false, money: false }
  // `1.250,-` and `CHF 1250.–` have no cents.
  body = body.replace(/(?<=[.,])[-–—]{1,2}(?!\d)/, '00').replaceAll(/[\u200e\u200f]/g, '')
  const in_brackets = /^([^\d()]*)\((.*)\)$/s.exec(body)
  if (in_brackets) body = `${in_brackets[1]}${in_brackets[2]}`.trim()
  const [, sign = '', head = '', number = '', tail = '', last = ''] = written.exec(body) ?? []
  if (!number) return null
  const units = [head, tail].filter(Boolean)
  const percent = units.includes('%')
  const others = units.filter((one) => one !== '%')
  if (others.length > 1) return null
  const signs = [sign, number.match(/^[+\-−]/)?.[0] ?? '', last].filter(Boolean)
  if (signs.length > 1 || (in_brackets && signs.length)) return null
  const negative = in_brackets !== null || (signs.length > 0 && signs[0] !== '+')
  const digits = number.replace(/^[+\-−]/, '').replace(thin, '$1\u0000')
  return { body: digits, negative, percent, money: others.length > 0 }
}

/**
 * Reads a text as a number. A separator that can be of thousands or of decimals, as in 1.250, is read by `decimal`; with
 * null, the text has two readings.
 */
export function readNumber(text: string, decimal: DecimalSign | null): NumberReading {
  const parts = numberParts(text)
  if (!parts) return null
  const { body, negative, percent, money } = parts
  const value = numberIn(body, decimal)
  if (typeof value !== 'number') return value
  return Number.isFinite(value) ? { value: negative && value ? -value : value, percent, money } : null
}

function numberIn(body: string, decimal: DecimalSign | null): number | 'two' | null {
  // A thin separator leaves one meaning to a dot or a comma.
  if (body.includes('\u0000')) {
    const found = /^(\d{1,3}(?:\0\d{3})+)(?:[.,](\d+))?$/.exec(body)
    return found ? Number(`${found[1]?.replaceAll('\0', '')}.${found[2] ?? 0}`) : null
  }
  const signs = [...new Set(body.match(/[.,]/g))]
  if (signs.length === 0) return plain.test(body) ? Number(body) : null
  if (signs.length === 2) {
    const at = Math.max(body.lastIndexOf('.'), body.lastIndexOf(','))
    const [whole, rest] = [body.slice(0, at), body.slice(at + 1)]
    if (whole.includes(body[at] as string) || !/^\d+$/.test(rest)) return null
    return western.test(whole) || indian.test(whole)
      ? Number(`${whole.replaceAll(/[.,]/g, '')}.${rest}`)
      : null
  }
  const sign = signs[0] as DecimalSign
  const count = body.split(sign).length - 1
  if (count > 1) return western.test(body) || indian.test(body) ? Number(body.replaceAll(sign, '')) : null
  if (isUnclear(body)) {
    if (decimal === null) return 'two'
    return Number(sign === decimal ? body.replace(',', '.') : body.replace(sign, ''))
  }
  const dotted = body.replace(',', '.')
  return plain.test(dotted) ? Number(dotted) : null
}

// 1.250: thousands, or three decimals. 0.125 and 1250.125 are decimals only.
const isUnclear = (body: string) => /^[1-9]\d{0,2}[.,]\d{3}$/.test(body)

/** The decimal sign that a text shows, if it has one reading: 1.250,5 shows a comma, 1,250,000 a dot. Null: none. */
export function decimalOf(text: string): DecimalSign | null {
  const body = numberParts(text)?.body
  if (!body || !/[.,]/.test(body) || typeof numberIn(body, null) !== 'number') return null
  const signs = [...new Set(body.match(/[.,]/g))] as DecimalSign[]
  const other = { '.': ',', ',': '.' } as const
  if (signs.length === 2) return body[Math.max(body.lastIndexOf('.'), body.lastIndexOf(','))] as DecimalSign
  const [sign] = signs as [DecimalSign]
  return body.split(sign).length > 2 ? other[sign] : sign
}
