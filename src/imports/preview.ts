import type { Readable } from 'node:stream'
import { createPace } from '../db/pace.ts'
import { ApiError, badRequest } from '../errors.ts'
import { createEncodingDetector } from '../files/encoding.ts'
import { readRows } from '../files/read-rows.ts'
import { FileError, type FileRow, max_columns } from '../files/rows.ts'
import { readSheet } from '../files/sheet-rows.ts'
import { max_workbook_bytes } from '../files/workbook.ts'
import type { Room } from '../resources/room.ts'
import { countRows } from './archive.ts'
import { custom, type Defined, type MappingOptions } from './columns.ts'
import { createEvidence } from './evidence.ts'
import { type FindHeader, headerFinder } from './header-row.ts'
import { createMapping, type Mapping } from './mapping.ts'
import { refuseUnknownHeaders } from './options.ts'
import { programs } from './programs/index.ts'
import type { ImportRoom } from './rows.ts'
import type { ImportOptions, Preview } from './schema.ts'
import { openSheet } from './sheets.ts'
import { addEvidence, sourceOf } from './source.ts'
import {
  bodyParts,
  columnNames,
  type FileFacts,
  refuseLarger,
  refuseOthers,
  textForm,
  tooLarge,
} from './upload.ts'

type PreviewOptions = MappingOptions & Pick<ImportOptions, 'program' | 'time_zone'>

const shown_rows = 20
const matched_rows = 1000
const read_bytes = 1024 * 1024

/** The first rows of a file, and what its columns become. */
export async function previewFile(
  body: Readable,
  facts: FileFacts,
  {
    room,
    options,
    defined,
    countExisting,
  }: {
    room: ImportRoom
    options: PreviewOptions
    defined: readonly Defined[]
    countExisting: (values: readonly string[]) => Promise<number>
  },
  max_bytes: number,
): Promise<Preview> {
  const findHeader = headerFinder(room, options)
  const start = facts.format === 'xlsx' ? startOfSheet : startOfText
  const { names, rows, read_as } = await start(body, facts, findHeader, max_bytes)
  refuseUnknownHeaders(options, names)
  const first = rows[0]?.problem
  if (first?.code === 'row_too_long' && rows.every(({ problem }) => problem)) throw badRequest(first.message)
  const shown = rows.filter(hasCells).slice(0, shown_rows)
  // Lines of JSON and cards may have any names. A table may have equal ones.
  const named = shown.flatMap(({ names, problem }) => (problem ? [] : [names]))
  const is_table = read_as.header_row !== null
  const names_found = is_table ? (names ?? named[0] ?? []) : [...new Set(named.flat())]
  const headers = names_found.slice(0, max_columns)
  const source = sourceOf(headers, room, options)
  const first_mapping = createMapping(room, options, defined, source)
  const evidence = createEvidence()
  const pace = createPace()
  for (const row of rows) {
    addEvidence(evidence, first_mapping, [row])
    await pace()
  }
  const { delimiter } = read_as
  const readings = source.is_own ? {} : evidence.readings({ program: source.program, delimiter, headers })
  const { program, file, evidence: seen } = source.recognised ?? {}
  const mapping = createMapping(room, options, defined, { ...source, readings })
  const field = room.batch?.match[0]?.field
  const values = field === undefined ? [] : valuesOf(mapping, { headers, rows }, field)
  return {
    ...read_as,
    columns: first_mapping.columnsOf(headers).map((column) => {
      const { header, target, reason, spare_key } = column
      const shows = first_mapping.evidenceOf(column)
      return {
        header,
        field: target ?? (spare_key === null ? null : custom + spare_key),
        reason: target === null && spare_key === null ? reason : null,
        decimal: (shows === 'decimal' && readings[header]?.decimal) || null,
        day_order: (shows === 'order' && readings[header]?.order) || null,
        has_times: first_mapping.hasTimes(column),
      }
    }),
    program:
      program && file
        ? { id: program.id, label: program.label, kind: file.kind, evidence: [...(seen ?? [])] }
        : null,
    programs: programs.map(({ id, label }) => ({ id, label })),
    time_zone: options.time_zone,
    existing: field === undefined ? null : { field, rows: values.length, found: await countExisting(values) },
    fields: [...first_mapping.targets],
    kinds: [],
    complete: names_found.length <= max_columns,
    rows: shown.map(({ names, values }) => {
      if (is_table) return headers.map((_, n) => values[n] ?? null)
      const cells = new Map(names.map((name, n): [string, unknown] => [name, values[n]]))
      return headers.map((header) => cells.get(header) ?? null)
    }),
  }
}

/** The values that the first rows have of a field. Only its own cells are read: others may be long, or many. */
function valuesOf(
  mapping: Mapping,
  { headers, rows }: { headers: readonly string[]; rows: readonly FileRow[] },
  field: string,
): string[] {
  const columns = mapping.columnsOf(headers).filter(({ target }) => target === field)
  const wanted = new Set(columns.map(({ header }) => header))
  const readable = rows.filter(({ problem, blank_lines }) => !problem && !blank_lines).slice(0, matched_rows)
  const now = new Date(0).toISOString()
  const values = readable.map((row) => {
    const at = row.names.flatMap((name, n) => (wanted.has(name) ? [n] : []))
    const own = { ...row, names: at.map((n) => row.names[n] as string), values: at.map((n) => row.values[n]) }
    return mapping.read(own, now).data[field]
  })
  return values.filter((value) => typeof value === 'string' && value.trim() !== '') as string[]
}

/** The start of a file: its first rows, the names of its columns if they are known, and how it is read. */
type Start = { names: string[] | null; rows: FileRow[]; read_as: Found }
type Found = Pick<
  Preview,
  | 'file_type'
  | 'encoding'
  | 'encoding_is_guess'
  | 'encoding_sample'
  | 'delimiter'
  | 'header_row'
  | 'sheet'
  | 'sheets'
>
const no_table = {
  encoding: 'utf-8',
  encoding_is_guess: false,
  encoding_sample: null,
  delimiter: null,
  header_row: null,
  sheet: null,
  sheets: [],
}

const piece_bytes = 32 * 1024
async function* piecesOf(bytes: Buffer, from: number, to: number) {
  for (let at = from; at < to; at += piece_bytes) yield bytes.subarray(at, Math.min(to, at + piece_bytes))
}

/** Reads the first MiB of a text; the rest only decides the encoding. */
async function startOfText(
  body: Readable,
  facts: FileFacts,
  findHeader: FindHeader,
  max_bytes: number,
): Promise<Start> {
  const detector = createEncodingDetector(facts.encoding)
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of bodyParts(body)) {
    if (bytes < read_bytes) parts.push(part)
    bytes += part.length
    refuseLarger(bytes, facts, max_bytes)
    detector.add(part)
  }
  if (!bytes) throw badRequest('The body is empty. Send the file as the body.')
  const start = Buffer.concat(parts)
  const pace = createPace()
  const { is_guess, sample, encoding } = detector.result()
  const form = await textForm(facts, encoding, start, findHeader)
  await pace()
  const names = columnNames(form, start)
  await pace()
  const rows = await firstRows(readRows(piecesOf(start, 0, start.length), form))
  const of_table = form.format === 'csv' && { delimiter: form.delimiter, header_row: form.header_row ?? 1 }
  const of_text = { encoding, encoding_is_guess: is_guess, encoding_sample: sample }
  const read_as = { ...no_table, file_type: form.format, ...of_text, ...of_table }
  return { names, rows, read_as }
}

// The directory of a workbook is at its end, so a preview keeps all of it. Large ones wait in their clients.
const max_held_bytes = 4 * max_workbook_bytes
let held_bytes = 0

/** Reads the first rows of a sheet. */
async function startOfSheet(
  body: Readable,
  facts: FileFacts,
  findHeader: FindHeader,
  max_bytes: number,
): Promise<Start> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of bodyParts(body)) {
      bytes += part.length
      held_bytes += part.length
      refuseLarger(bytes, facts, max_bytes)
      if (held_bytes > max_held_bytes)
        throw new ApiError(
          'unavailable',
          'Too many sheets are previewed at this moment. Try again in a minute.',
        )
      chunks.push(part)
    }
    if (!bytes) throw badRequest('The body is empty. Send the file as the body.')
    const content = Buffer.concat(chunks.splice(0))
    refuseOthers('xlsx', content)
    const file = { size: bytes, read: piecesOf.bind(null, content) }
    const { workbook, form, names } = await openSheet(file, facts, findHeader)
    const rows = await firstRows(readSheet(workbook, form, 0))
    const { sheet, header_row } = form
    return {
      names,
      rows,
      read_as: { ...no_table, file_type: 'xlsx', header_row, sheet, sheets: [...workbook.sheets] },
    }
  } finally {
    held_bytes -= bytes
  }
}

/** Whether a row has cells to show. With too many cells, it has those of the header. */
const hasCells = ({ values, problem }: FileRow) => !problem || values.length > 0

// Counting more would take longer than people wait.
const counted_bytes = 1024 ** 3

/** The rows of an archive by their kind. Nothing is checked. */
export async function previewArchive(
  body: Readable,
  rooms: readonly Room[],
  max_bytes: number,
): Promise<Preview> {
  async function* limited() {
    let bytes = 0
    for await (const part of bodyParts(body)) {
      bytes += part.length
      if (bytes > max_bytes) throw tooLarge(max_bytes)
      yield part
    }
    if (!bytes) throw badRequest('The body is empty. Send the file as the body.')
  }
  try {
    const counted = await countRows(limited(), rooms, counted_bytes)
    const none = {
      ...no_table,
      columns: [],
      program: null,
      programs: [],
      time_zone: 'UTC',
      existing: null,
      fields: [],
      rows: [],
    }
    return { file_type: 'archive', ...none, ...counted }
  } catch (error) {
    throw asRefusal(error)
  }
}

async function firstRows(read: AsyncIterable<FileRow[]>): Promise<FileRow[]> {
  const rows: FileRow[] = []
  try {
    const pace = createPace()
    for await (const some of read) {
      rows.push(...some.filter(({ blank_lines }) => !blank_lines))
      if (rows.length >= shown_rows) break
      await pace()
    }
  } catch (error) {
    // The start of a longer file may end within a row.
    if (!(error instanceof FileError) || !rows.length) throw asRefusal(error)
  }
  return rows
}

const asRefusal = (error: unknown) => (error instanceof FileError ? badRequest(error.message) : error)
