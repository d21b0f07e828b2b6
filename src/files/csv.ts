// Writes CSV (RFC 4180). A spreadsheet runs a cell that begins with one of these characters as a formula.
const formula = /^'*[=+\-@\t\r]/
const guarded = /^'+[=+\-@\t\r]/
const number = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const phone = /^\+\d[\d ()./-]*$/
const quoted = /[",\r\n]/

/** A text that no spreadsheet runs as a formula: with a leading apostrophe, unless it is a number or a phone number. */
export const guardCell = (text: string): string =>
  formula.test(text) && !number.test(text) && !phone.test(text) ? `'${text}` : text

/** The text of a guarded cell. */
export const unguardCell = (cell: string): string => (guarded.test(cell) ? cell.slice(1) : cell)

const cellOf = (text: string): string => {
  const cell = guardCell(text)
  return quoted.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** One row of a CSV file, with its line end. */
export function csvRow(texts: readonly string[]): string {
  let row = ''
  for (let n = 0; n < texts.length; n++) row += (n ? ',' : '') + cellOf(texts[n] as string)
  return `${row}\r\n`
}
