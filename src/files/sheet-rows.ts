import {
  FileError,
  type FileRow,
  kept_characters,
  max_cells,
  max_columns,
  max_row_characters,
  startOf,
} from './rows.ts'
import { CellError, type CellValue, numberValue, textValue } from './sheet-values.ts'
import type { Workbook } from './workbook.ts'
import { readXml } from './xml.ts'

/** How the rows of a sheet are read. `bytes` is the size of the file. */
export type SheetForm = { format: 'xlsx'; sheet: string; header_row: number; bytes: number }

/** The values of a row by their columns; undefined: an empty cell. */
export type SheetRow = { number: number; values: (CellValue | undefined)[]; excess: Excess | null }
type Excess = 'too_many_cells' | 'row_too_long'

// Excel has 1,048,576 rows. Of a larger sheet, its texts are a part of their own.
const max_rows = 2 ** 20
const max_sheet_bytes = 4 * 1024 ** 3
const max_texts_bytes = 512 * 1024 ** 2
const max_kept_bytes = 64 * 1024 ** 2

/** The rows of a sheet with a number above `after` that have values; none while it reads texts. `onShare` gets the share of the sheet that was read. */
export async function* sheetRows(
  { is_1904, kinds, openSheet, openTexts }: Workbook,
  after: number,
  onShare: (share: number) => void = () => {},
): AsyncGenerator<SheetRow[]> {
  const texts = readTexts(openTexts())
  const { bytes, size } = openSheet()
  const rows = createRows(after, (text, kind) => numberValue(text, kinds[kind] ?? 'number', is_1904))
  try {
    for await (const read of readXml(bytes, rows.handlers, max_sheet_bytes)) {
      onShare(Math.min(1, read / size))
      const { found, last_text } = rows.take()
      // The caller renews its lease.
      for await (const _ of texts.readTo(last_text)) yield []
      // A short row can refer to long texts.
      let some: SheetRow[] = []
      for (let n = 0, characters = 0; n < found.length; n++) {
        characters += resolve(found[n] as Unresolved, texts.get)
        some.push(found[n] as SheetRow)
        if (characters < max_row_characters) continue
        yield some
        some = []
        characters = 0
      }
      yield some
    }
  } finally {
    await texts.close()
  }
}

/** The text of a cell that stands in another part of the file, by its number. */
class SharedText {
  readonly number: number
  constructor(number: number) {
    this.number = number
  }
}
type Unresolved = Omit<SheetRow, 'values'> & { values: (CellValue | SharedText | undefined)[] }

/** Puts the shared texts into a row, until it is too long. Returns its characters. */
function resolve(row: Unresolved, get: (n: number) => string): number {
  let characters = 0
  for (let n = 0; n < row.values.length; n++) {
    const value = row.values[n]
    const read =
      value instanceof SharedText ? (characters > max_row_characters ? '' : get(value.number)) : value
    row.values[n] = read
    characters += typeof read === 'string' ? read.length : 1
  }
  if (characters > max_row_characters) row.excess ??= 'row_too_long'
  return characters
}

/** Reads the rows of a sheet's XML. */
function createRows(after: number, numberOf: (text: string, style: number) => CellValue) {
  let found: Unresolved[] = []
  let last_text = -1
  let row: Unresolved | null = null
  let number = 0
  let column = -1
  let type = ''
  let style = 0
  let text = ''
  // Of the texts of this row.
  let characters = 0
  let is_text = false
  let is_phonetic = false

  function begin(r: string | undefined): void {
    const next = r === undefined ? number + 1 : Number(r)
    if (!Number.isInteger(next) || next <= number || next > max_rows)
      throw new FileError(
        `The file is damaged: its row ${number} is followed by the row ${String(r).slice(0, 20)}.`,
      )
    number = next
    column = -1
    row = { number, values: [], excess: null }
    characters = 0
  }
  function put(): void {
    const value = cellValue()
    if (!row || value === undefined) return
    if (column >= max_cells) row.excess = 'too_many_cells'
    else if (!row.excess) row.values[column] = value
  }
  function cellValue(): Unresolved['values'][number] {
    if (type === 's') {
      const at = Number(text)
      if (text === '' || number <= after) return undefined
      last_text = Math.max(last_text, at)
      return new SharedText(at)
    }
    if (text === '') return undefined
    if (type === 'b') return text.trim() === '1' || text.trim() === 'true'
    if (type === 'e') return new CellError(text)
    return type === '' || type === 'n' ? numberOf(text, style) : textValue(text)
  }

  return {
    handlers: {
      open(name: string, { r, t, s }: Readonly<Record<string, string>>) {
        if (name === 'row') begin(r)
        else if (name === 'c') {
          column = r === undefined ? column + 1 : columnOf(r)
          type = t ?? ''
          style = Number(s ?? 0)
          text = ''
        } else if (name === 'rPh') is_phonetic = true
        else if (name === 'v' || (name === 't' && !is_phonetic)) is_text = true
      },
      text(part: string) {
        if (!is_text || !row) return
        characters += part.length
        if (characters > max_row_characters) row.excess = 'row_too_long'
        if (!row.excess) text += part
      },
      close(name: string) {
        if (name === 'v' || name === 't') is_text = false
        else if (name === 'rPh') is_phonetic = false
        else if (name === 'c') put()
        else if (name === 'row' && row) {
          if (number > after && (row.values.length || row.excess)) found.push(row)
          row = null
        }
      },
    },
    /** The rows that ended since the last call. */
    take(): { found: Unresolved[]; last_text: number } {
      const taken = { found, last_text }
      found = []
      return taken
    },
  }
}

/** The column of a cell such as AB12, from 0. */
function columnOf(reference: string): number {
  let column = 0
  for (let n = 0; n < reference.length && n < 4; n++) {
    const letter = reference.charCodeAt(n) & ~32
    if (letter < 65 || letter > 90) break
    column = column * 26 + letter - 64
  }
  if (!column) throw new FileError('The file is damaged: one of its cells has no place.')
  return column - 1
}

/** The shared texts of a workbook. They are read as far as cells refer to them, and kept as bytes. */
function readTexts(source: AsyncIterable<Buffer> | null) {
  let bytes = Buffer.allocUnsafe(64 * 1024)
  let ends = new Uint32Array(1024)
  let count = 0
  let text = ''
  let is_text = false
  let is_phonetic = false
  const add = () => {
    const start = count ? (ends[count - 1] as number) : 0
    const end = start + Buffer.byteLength(text)
    if (end > max_kept_bytes)
      throw new FileError(
        `The file has more than ${max_kept_bytes / 1024 ** 2} MiB of different texts. Save it as CSV.`,
      )
    if (end > bytes.length) bytes = Buffer.concat([bytes], Math.max(end, 2 * bytes.length))
    if (count === ends.length) {
      const more = new Uint32Array(2 * ends.length)
      more.set(ends)
      ends = more
    }
    bytes.write(text, start)
    ends[count++] = end
  }
  const handlers = {
    open(name: string) {
      if (name === 'si') text = ''
      else if (name === 'rPh') is_phonetic = true
      else if (name === 't') is_text = !is_phonetic
    },
    text(part: string) {
      // A longer text makes its row too long.
      if (is_text && text.length <= max_row_characters) text += part
    },
    close(name: string) {
      if (name === 't') is_text = false
      else if (name === 'rPh') is_phonetic = false
      else if (name === 'si') add()
    },
  }
  const parts = source && readXml(source, handlers, max_texts_bytes)
  return {
    /** Reads on until a text is there. It yields between two pieces. */
    async *readTo(last: number): AsyncGenerator<void> {
      while (parts && count <= last && !(await parts.next()).done) yield
      if (count <= last)
        throw new FileError('The file is damaged: a cell refers to a text that it does not have.')
    },
    get: (n: number): string =>
      textValue(bytes.toString('utf8', n ? (ends[n - 1] as number) : 0, ends[n] as number)),
    close: async () => void (await parts?.return(0)),
  }
}

/** The names in the header of a sheet. */
export const namesOf = ({ values }: SheetRow): string[] =>
  Array.from(values, (value) => String(value ?? '').trim())

/** The rows of a sheet behind its header, with those that are blank. Throws FileError. */
export async function* readSheet(
  workbook: Workbook,
  { header_row }: Pick<SheetForm, 'header_row'>,
  after: number,
  onShare?: (share: number) => void,
): AsyncGenerator<FileRow[]> {
  let names: string[] | null = null
  let last = Math.max(header_row, after)
  // The header is read again, also behind a row that is imported already.
  for await (const rows of sheetRows(workbook, header_row - 1, onShare)) {
    const read: FileRow[] = []
    for (const row of rows) {
      if (row.number === header_row) {
        names = namesOf(row)
        if (names.length > max_columns)
          throw new FileError(`The header has more than ${max_columns} columns.`)
        continue
      }
      if (!names) throw new FileError(`The sheet has no row ${header_row}, which is to be its header.`)
      if (row.number <= after) continue
      const blank_lines = row.number - last - 1
      if (blank_lines) read.push({ number: row.number - 1, names: [], values: [], blank_lines })
      read.push(rowOf(row, names))
      last = row.number
    }
    yield read
  }
}

function rowOf({ number, values, excess }: SheetRow, names: readonly string[]): FileRow {
  // A hole of the list is an empty cell.
  const cells = Array.from(values, (value) => value ?? '')
  const row: FileRow = { number, names, values: cells, is_typed: true }
  if (excess === 'row_too_long')
    return {
      ...row,
      values: [],
      text: startOf(cells.map((cell) => String(cell).slice(0, kept_characters)).join(',')),
      problem: { code: excess, message: `The row has more than ${max_row_characters} characters.` },
    }
  const beyond = cells.findIndex((cell, n) => n >= names.length && cell !== '')
  if (!excess && beyond < 0) return row
  const message = excess
    ? `The row has more than ${max_cells} cells.`
    : `The row has a value in column ${letters(beyond)}, which has no header.`
  return { ...row, problem: { code: 'too_many_cells', message } }
}

const letters = (column: number): string =>
  column < 26
    ? String.fromCharCode(65 + column)
    : letters(Math.floor(column / 26) - 1) + String.fromCharCode(65 + (column % 26))
