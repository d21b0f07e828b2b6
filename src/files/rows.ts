import { type CsvError, parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import secureJson from 'secure-json-parse'
import { unguardCell } from './csv.ts'
import { type CsvForm, rowEnds } from './delimiter.ts'
import { decode, type Encoding } from './encoding.ts'
import { createRowEnd, type RowEnd } from './row-end.ts'

/** How a file of rows is read. */
export type FileForm = { encoding: Encoding } & (({ format: 'csv' } & CsvForm) | Lines)
type Lines = { format: 'ndjson'; max_characters?: number }

/** A row of a file: the names of its columns and their values. */
export type FileRow = {
  /** As a spreadsheet shows it: the header of a CSV file is row 1. */
  number: number
  names: readonly string[]
  /** Texts in a CSV file, else JSON values. */
  values: readonly unknown[]
  /** `object`: a JSON object. `line`: a line that cannot be parsed. Absent: cells. */
  sent_as?: 'object' | 'line'
  /** Why the row cannot be read. */
  problem?: RowProblem
  /** Of a row in an archive: the file and the kind of its records. */
  archived?: { file: string; line: number; kind: string; id: number | null }
}

/** Why a row cannot be read. */
export const row_problems = [
  'too_many_cells',
  'row_too_long',
  'too_deep',
  'invalid_json',
  'not_an_object',
  'too_many_names',
] as const
export type RowProblem = { code: (typeof row_problems)[number]; message: string }

/** The file is not readable beyond some row. The message says what to do. */
export class FileError extends Error {}

/** Limits of a row. A quote that is not closed may make one row of the rest of the file. */
export const max_row_characters = 256 * 1024
export const max_columns = 500
/** As in the body of a request. Deeper values would overflow the stack of whatever walks through them. */
const max_depth = 64

/** The rows of a file whose bytes arrive in parts, without its header, some at once. Throws FileError. */
export const readRows = (bytes: AsyncIterable<Buffer>, form: FileForm): AsyncGenerator<FileRow[]> =>
  form.format === 'csv' ? readCsv(bytes, form) : readLines(decode(bytes, form.encoding), form)

async function* readCsv(bytes: AsyncIterable<Buffer>, form: FileForm & CsvForm): AsyncGenerator<FileRow[]> {
  // The parser reads UTF-8 from the bytes, which costs less than a text.
  const parts = form.encoding === 'utf-8' ? bytes : decode(bytes, form.encoding)
  let names: string[] | undefined
  let number = 0
  for await (const { rows, too_long, error } of parseParts(parts, form)) {
    const read: FileRow[] = []
    for (const cells of rows) {
      number++
      if (!names) names = headerOf(cells)
      else if (cells.length > 1 || cells[0] !== '') read.push(rowOf(number, names, cells))
    }
    if (too_long !== undefined) {
      number++
      if (!names) throw new FileError(`The header ${too_long_text}`)
      read.push(tooLong(number, too_long))
    }
    yield read
    if (error) throw new FileError(messageOf(error, number + 1))
  }
}

const too_long_text = `has more than ${max_row_characters} characters. Perhaps a quote is not closed.`

const tooLong = (number: number, start: string): FileRow => ({
  number,
  names: ['line'],
  values: [start],
  sent_as: 'line',
  problem: { code: 'row_too_long', message: `The row ${too_long_text}` },
})

/** The names in the header of a CSV file, from its first bytes. Null if they have no valid header. */
export function readHeader(start: Buffer, form: FileForm & CsvForm): string[] | null {
  const { delimiter, header_line: from_line } = form
  const text = new TextDecoder(form.encoding).decode(start)
  try {
    const options = { ...parserOptions, delimiter, record_delimiter: rowEnds(form), from_line, to: 1 }
    const [header] = parseAll(text, options) as string[][]
    return header ? headerOf(header) : null
  } catch {
    // readRows throws the error when the file is imported.
    return null
  }
}

const parserOptions = {
  bom: true,
  relax_quotes: true,
  relax_column_count: true,
  max_record_size: max_row_characters,
}

/** The rows that end in a part, then the start of a row that is too long. */
type Parsed = { rows: string[][]; too_long?: string; error?: Pick<CsvError, 'code'> | null }

// Enough to recognise the row.
const kept_bytes = 4096

/**
 * The rows that end in each part. The parser stops at a row that is too long. Then this function finds the end of the
 * row, and another parser reads the rows after it.
 */
async function* parseParts(parts: AsyncIterable<Buffer | string>, form: CsvForm): AsyncGenerator<Parsed> {
  let parser = openParser(form, { from_line: form.header_line })
  let long: { start: string; end: RowEnd } | null = null
  for await (const { bytes: part, is_last } of withEnd(parts)) {
    for (let bytes = part; ; ) {
      if (long) {
        const end: number | null = long.end.find(bytes)
        if (end === null && !is_last) break
        if (long.end.isQuoted()) return yield { rows: [], error: { code: 'CSV_QUOTE_NOT_CLOSED' } }
        yield { rows: [], too_long: long.start }
        if (end === null) return
        long = null
        parser = openParser(form, { bom: false })
        bytes = bytes.subarray(end)
      }
      const { rows, error, unread } = await parser.read(bytes, is_last)
      yield { rows, error: unread ? null : error }
      if (!unread) break
      long = { start: unread.toString('utf8', 0, kept_bytes), end: createRowEnd(form) }
      bytes = unread
    }
  }
}

async function* withEnd(parts: AsyncIterable<Buffer | string>) {
  for await (const part of parts)
    yield { bytes: typeof part === 'string' ? Buffer.from(part) : part, is_last: false }
  yield { bytes: Buffer.alloc(0), is_last: true }
}

/** A parser of parts. As a stream, it would drop the rows before an error. */
function openParser(form: CsvForm, options: { bom?: boolean; from_line?: number }) {
  let rows: string[][] = []
  // The bytes from the start of the row that has not ended, and their place in all bytes.
  let open: Buffer = Buffer.alloc(0)
  let open_from = 0
  let row_start = 0
  const parser = parse({
    ...parserOptions,
    ...options,
    delimiter: form.delimiter,
    record_delimiter: rowEnds(form),
    on_record(row: string[], { bytes }) {
      rows.push(row)
      row_start = bytes
      return null
    },
  })
  parser.on('error', () => {})
  const result = (act: (done: (error?: Error | null) => void) => void) =>
    new Promise<CsvError | null>((resolve) => act((error) => resolve((error as CsvError) ?? null)))
  return {
    /** `unread`: the bytes from the start of a row that is too long, or null. */
    async read(bytes: Buffer, is_last: boolean) {
      rows = []
      open = Buffer.concat([open, bytes])
      let error = await result((done) => parser.write(bytes, done))
      if (is_last) error ??= await result((done) => parser.end(done))
      open = open.subarray(row_start - open_from)
      open_from = row_start
      return { rows, error, unread: error?.code === 'CSV_MAX_RECORD_SIZE' ? open : null }
    },
  }
}

function headerOf(cells: readonly string[]): string[] {
  if (cells.length > max_columns) throw new FileError(`The header has more than ${max_columns} columns.`)
  return cells.map((cell) => unguardCell(cell).trim())
}

function rowOf(number: number, names: readonly string[], cells: readonly string[]): FileRow {
  const row = { number, names, values: cells.map(unguardCell) }
  if (cells.length <= names.length || cells.slice(names.length).every((cell) => cell === '')) return row
  const message = `The row has ${cells.length} cells, and the header has ${names.length}. Quote cells with the delimiter.`
  return { ...row, problem: { code: 'too_many_cells', message } }
}

function messageOf({ code }: Pick<CsvError, 'code'>, row: number): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `The quote that opens in row ${row} is not closed.`
  return `Row ${row} is not valid CSV (${code}).`
}

async function* readLines(
  texts: AsyncIterable<string>,
  { max_characters = max_row_characters }: Lines,
): AsyncGenerator<FileRow[]> {
  let rest = ''
  let number = 0
  const rowsOf = (lines: readonly string[]) =>
    lines.flatMap((line) => {
      number++
      const is_blank = line.length <= max_characters && !line.trim()
      return is_blank ? [] : [lineOf(number, line, max_characters)]
    })
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() as string
    yield rowsOf(lines)
    // Of a longer line, this is enough to see that it is too long.
    if (rest.length > max_characters) rest = rest.slice(0, max_characters + 1)
  }
  yield rowsOf([rest])
}

/** The value of a text of JSON. Throws, as for a body, also for the name __proto__. */
export const parseJson = (text: string): unknown => secureJson.parse(text)

function lineOf(number: number, line: string, max_characters: number): FileRow {
  const unread = (code: RowProblem['code'], message: string): FileRow => ({
    number,
    names: ['line'],
    values: [line],
    sent_as: 'line',
    problem: { code, message },
  })
  if (line.length > max_characters)
    return unread('row_too_long', `The line has more than ${max_characters} characters.`)
  if (isTooDeep(line)) return unread('too_deep', `The JSON is nested deeper than ${max_depth} levels.`)
  let value: unknown
  try {
    value = parseJson(line)
  } catch {
    return unread('invalid_json', 'The line is not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return unread('not_an_object', 'The line is not a JSON object.')
  const names = Object.keys(value)
  if (names.length > max_columns)
    return unread('too_many_names', `The line has more than ${max_columns} names.`)
  return { number, names, values: Object.values(value), sent_as: 'object' }
}

const [quote, backslash, open_list, close_list, open_object, close_object] = [...'"\\[]{}'].map((sign) =>
  sign.charCodeAt(0),
)

/** Whether a text of JSON is nested too deep. It counts before the text is parsed. */
export function isTooDeep(text: string): boolean {
  let depth = 0
  let is_quoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at)
    if (is_quoted) {
      if (sign === backslash) at++
      else if (sign === quote) is_quoted = false
    } else if (sign === quote) is_quoted = true
    else if (sign === close_list || sign === close_object) depth--
    else if ((sign === open_list || sign === open_object) && ++depth > max_depth) return true
  }
  return false
}
