// The values of the cells of a workbook. Days and times are numbers: their format tells them apart.

class TextOfCell {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
  toJSON(): string {
    return this.text
  }
}

/** An error in a cell, such as #N/A. */
export class CellError extends TextOfCell {}
/** A number that the sheet shows as 25%. Its decimal sign is a dot, whatever people write in texts. */
export class Percentage extends TextOfCell {}

export type CellValue = string | number | boolean | CellError | Percentage

/** The kind of a number, by its format. `digits`: a code such as 01067, with so many digits. */
export type NumberKind = 'number' | 'time' | 'percent' | { digits: number }

// ECMA-376, 18.8.30. Formats of times by their ids, also those that some languages have.
const times = (id: number) =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || id === 45 || id === 47 || (id >= 50 && id <= 58)

// A 0 shows a digit in its place and in each place behind it. So 0# ## ## ## ##, which Excel has for the telephone numbers of
// France, shows ten digits, and 00-000 is a postcode.
const code_of_digits = /^#*(0(?=[0#?])[0#?]{1,19})$/

/** The kind of a number, by the id and the code of its format. */
export function kindOfFormat(id: number, code: string | undefined): NumberKind {
  if (code === undefined) return times(id) ? 'time' : id === 9 || id === 10 ? 'percent' : 'number'
  const [first = ''] = code.replaceAll(/"[^"]*"|\\.|_.|\*./g, '').split(';')
  // [h]:mm is a duration. [Red], [$-409] and the like say nothing here.
  if (/\[[hms]+\]/i.test(first)) return 'number'
  const plain = first.replaceAll(/\[[^\]]*\]/g, '')
  const [, digits = ''] = code_of_digits.exec(plain.replaceAll(/[\s()+-]/g, '')) ?? []
  if (digits.length > 1) return { digits: digits.length }
  if (/General|Standard/i.test(plain)) return 'number'
  if (/[ymdhs]/i.test(plain)) return 'time'
  return plain.includes('%') ? 'percent' : 'number'
}

const day_ms = 24 * 60 * 60 * 1000

/** The value of a number with a format. A day is `2026-12-31`, a time of a day `2026-12-31T14:30:00`. */
export function numberValue(text: string, kind: NumberKind, is_1904: boolean): CellValue {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) return text
  if (kind === 'number') return value
  // Without the last digits, which binary numbers do not have.
  if (kind === 'percent') return new Percentage(`${Number((value * 100).toPrecision(15))}%`)
  if (typeof kind === 'object')
    return Number.isInteger(value) && value >= 0 ? String(value).padStart(kind.digits, '0') : value
  return timeOf(value, is_1904) ?? value
}

/** The day or time of a serial number. 1900-02-29, which Excel has and the calendar has not, is 60. */
function timeOf(serial: number, is_1904: boolean): string | null {
  const days = is_1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  if (!(serial >= 0) || days > 2_958_466) return null
  const ms = Math.round((days * day_ms) / 1000) * 1000
  const text = new Date(Date.UTC(1899, 11, 30) + ms).toISOString()
  if (serial < 1 && !is_1904) return text.slice(11, 19)
  return ms % day_ms === 0 ? text.slice(0, 10) : text.slice(0, 19)
}

/** A text of a cell, without the escapes that Excel writes for characters that XML cannot have. */
export const textValue = (text: string): string =>
  text.includes('_x')
    ? text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text
