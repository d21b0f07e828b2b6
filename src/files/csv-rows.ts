import { parse } from 'csv-parse/sync'
import { unguardCell } from './csv.ts'
import { type CsvForm, rowEnds } from './delimiter.ts'
import { decode, type Encoding, hasBroken } from './encoding.ts'
import { createRowEnds, createRowGroups, type RowGroup } from './row-groups.ts'
import {
  FileError,
  type FileRow,
  invalidEncoding,
  max_cells,
  max_columns,
  max_row_characters,
  type RowProblem,
  startOf,
} from './rows.ts'

type Form = CsvForm & { encoding: Encoding }

/** The rows of a CSV file with a number above `after`. The rows before them are counted, and not parsed. */
export async function* readCsv(
  bytes: AsyncIterable<Buffer>,
  form: Form,
  after: number,
): AsyncGenerator<FileRow[]> {
  const groups = createRowGroups(form)
  const { header_row = 1 } = form
  let names: string[] | null = null
  let number = 0
  const read = (group: RowGroup): FileRow[] => {
    const first = number + 1
    number += group.rows
    if (names && number > after) return rowsOf(group, { form, names, first, after })
    if (number >= header_row) names ??= headerOf(group, form)
    return []
  }
  for await (const text of decode(bytes, form.encoding)) {
    for (const group of groups.split(text)) yield read(group)
    // The part may have no end of a row.
    yield []
  }
  const last = groups.end()
  if (!last) throw new FileError(`The quote that opens in row ${number + 1} is not closed.`)
  for (const group of last) yield read(group)
  if (!names && header_row > 1)
    throw new FileError(`The file has no row ${header_row}, which is to be its header.`)
}

/** The names in the header of a CSV file, from its first bytes. Null if they have no valid header. */
export function readHeader(start: Buffer, form: Form): string[] | null {
  let { header_row: left = 1 } = form
  try {
    for (const group of startGroups(start, form)) {
      left -= group.rows
      if (left <= 0) return headerOf(group, form)
    }
  } catch {
    // readRows throws the error when the file is imported.
  }
  return null
}

/** The cells of the first rows of a CSV file, from its first bytes. A row beyond a limit has none. */
export function firstCells(start: Buffer, form: Form, rows: number): string[][] {
  const found: string[][] = []
  for (const group of startGroups(start, form)) {
    if (found.length >= rows) break
    if (group.kind === 'cells') found.push(...parseRows(group, form))
    else for (let n = 0; n < group.rows && found.length < rows; n++) found.push([])
  }
  return found.slice(0, rows)
}

function* startGroups(start: Buffer, form: Form): Generator<RowGroup> {
  const groups = createRowGroups(form)
  yield* groups.split(new TextDecoder(form.encoding).decode(start))
  yield* groups.end() ?? []
}

function headerOf(group: RowGroup, form: CsvForm): string[] {
  if (group.kind === 'row_too_long') throw new FileError(`The header ${too_long_text}`)
  const [cells = []] = group.kind === 'cells' ? parseRows(group, form) : []
  if (group.kind === 'too_many_cells' || cells.length > max_columns)
    throw new FileError(`The header has more than ${max_columns} columns.`)
  return group.kind === 'blank' ? [''] : cells.map((cell) => unguardCell(cell).trim())
}

const parseRows = ({ text }: RowGroup, form: CsvForm): string[][] =>
  parse(text, {
    delimiter: form.delimiter,
    record_delimiter: rowEnds(form),
    relax_quotes: true,
    relax_column_count: true,
  })

const too_long_text = `has more than ${max_row_characters} characters. Perhaps a quote is not closed.`
const excess_texts = {
  row_too_long: `The row ${too_long_text}`,
  too_many_cells: `The row has more than ${max_cells} cells. Quote cells with the delimiter.`,
}

type Place = { form: Form; names: readonly string[]; first: number; after: number }

function rowsOf(group: RowGroup, { form, names, first, after }: Place): FileRow[] {
  const { kind, rows, text } = group
  const last = first + rows - 1
  if (kind === 'blank') return [blankRow(last, last - Math.max(after, first - 1))]
  if (kind === 'cells') {
    const cells = parseRows(group, form)
    const broken = hasBroken(text) ? brokenAmong(text, form) : null
    const all = cells.map((cells, n) =>
      broken?.has(n) ? brokenRow(first + n, names, cells, form) : rowOf(first + n, names, cells),
    )
    return after < first ? all : all.slice(after - first + 1)
  }
  return [
    {
      number: first,
      names: [],
      values: [],
      text: startOf(text),
      problem: { code: kind, message: excess_texts[kind] },
    },
  ]
}

function rowOf(number: number, names: readonly string[], cells: readonly string[]): FileRow {
  if (cells.length === 1 && cells[0] === '') return blankRow(number, 1)
  const row = { number, names, values: cells.map(unguardCell) }
  if (cells.length <= names.length || cells.slice(names.length).every((cell) => cell === '')) return row
  const message = `The row has ${cells.length} cells, and the header has ${names.length}. Quote cells with the delimiter.`
  return { ...row, problem: { code: 'too_many_cells', message } satisfies RowProblem }
}

/** The places of the rows with bytes that are not valid. The parser replaces them. */
function brokenAmong(text: string, form: Form): Set<number> {
  const ends = createRowEnds(form)
  const broken = new Set<number>()
  for (let n = 0, from = 0; from < text.length; n++) {
    const end = ends.next(text, from)?.end ?? text.length
    if (hasBroken(text.slice(from, end))) broken.add(n)
    from = end
  }
  return broken
}

function brokenRow(
  number: number,
  names: readonly string[],
  cells: readonly string[],
  { encoding }: Form,
): FileRow {
  return { number, names, values: cells.map(unguardCell), problem: invalidEncoding(encoding) }
}

const blankRow = (number: number, blank_lines: number): FileRow => ({
  number,
  names: [],
  values: [],
  blank_lines,
})
