import type { Readable } from 'node:stream'
import { createPace } from '../db/pace.ts'
import { badRequest } from '../errors.ts'
import { createEncodingDetector } from '../files/encoding.ts'
import { readRows } from '../files/read-rows.ts'
import { FileError, type FileRow } from '../files/rows.ts'
import type { Room } from '../resources/room.ts'
import { countRows } from './archive.ts'
import { custom, type Defined, type MappingOptions } from './columns.ts'
import { createEvidence } from './evidence.ts'
import { headerFinder } from './header-row.ts'
import { createMapping } from './mapping.ts'
import { refuseUnknownHeaders } from './options.ts'
import { programs } from './programs/index.ts'
import type { ImportRoom } from './rows.ts'
import type { ImportOptions, Preview } from './schema.ts'
import { addEvidence, sourceOf } from './source.ts'
import { columnNames, type FileFacts, formOf, partsOf, tooLarge } from './upload.ts'

type PreviewOptions = MappingOptions & Pick<ImportOptions, 'program' | 'time_zone'>

const shown_rows = 20
const read_bytes = 1024 * 1024

/** The first rows of a file, and what its columns become. It reads the first MiB; the rest only decides the encoding. */
export async function previewFile(
  body: Readable,
  facts: FileFacts,
  { room, options, defined }: { room: ImportRoom; options: PreviewOptions; defined: readonly Defined[] },
  max_bytes: number,
): Promise<Preview> {
  const detector = createEncodingDetector(facts.encoding)
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of partsOf(body)) {
    if (bytes < read_bytes) parts.push(part)
    bytes += part.length
    if (bytes > max_bytes) throw tooLarge(max_bytes)
    detector.add(part)
  }
  if (!bytes) throw badRequest('The body is empty. Send the file as the body.')
  const start = Buffer.concat(parts)
  const { is_guess, sample, encoding } = detector.result()
  const form = formOf(facts, encoding, start, headerFinder(room, options))
  refuseUnknownHeaders(options.columns, columnNames(form, start))
  const rows = await firstRows(start, form)
  const first = rows[0]?.problem
  if (first?.code === 'row_too_long' && rows.every(({ problem }) => problem)) throw badRequest(first.message)
  const shown = rows.filter(hasCells).slice(0, shown_rows)
  // Lines of JSON may have any names. A CSV file may have equal ones.
  const named = shown.flatMap(({ names, problem }) => (problem ? [] : [names]))
  const headers = form.format === 'csv' ? (named[0] ?? []) : [...new Set(named.flat())]
  const source = sourceOf(headers, room, options)
  const first_mapping = createMapping(room, options, defined, source)
  const evidence = createEvidence()
  addEvidence(evidence, first_mapping, rows)
  const delimiter = form.format === 'csv' ? form.delimiter : null
  const readings = source.is_own ? {} : evidence.readings({ program: source.program, delimiter, headers })
  const { program, file, evidence: seen } = source.recognised ?? {}
  return {
    file_type: form.format,
    encoding,
    encoding_is_guess: is_guess,
    encoding_sample: sample,
    delimiter,
    header_row: form.format === 'csv' ? (form.header_row ?? 1) : null,
    columns: first_mapping.columnsOf(headers).map((column) => {
      const { header, target, lack, spare_key } = column
      return {
        header,
        field: target ?? (spare_key === null ? null : custom + spare_key),
        reason: target === null && spare_key === null ? lack : null,
        decimal: readings[header]?.decimal ?? null,
        day_order: readings[header]?.order ?? null,
        has_times: first_mapping.hasTimes(column),
      }
    }),
    program:
      program && file
        ? { id: program.id, label: program.label, kind: file.kind, evidence: [...(seen ?? [])] }
        : null,
    programs: programs.map(({ id, label }) => ({ id, label })),
    time_zone: options.time_zone,
    fields: [...first_mapping.targets],
    kinds: [],
    complete: true,
    rows: shown.map(({ names, values }) => {
      if (form.format === 'csv') return headers.map((_, n) => values[n] ?? null)
      const cells = new Map(names.map((name, n): [string, unknown] => [name, values[n]]))
      return headers.map((header) => cells.get(header) ?? null)
    }),
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
    for await (const part of partsOf(body)) {
      bytes += part.length
      if (bytes > max_bytes) throw tooLarge(max_bytes)
      yield part
    }
    if (!bytes) throw badRequest('The body is empty. Send the file as the body.')
  }
  try {
    const counted = await countRows(limited(), rooms, counted_bytes)
    const none = {
      encoding: 'utf-8',
      encoding_is_guess: false,
      encoding_sample: null,
      delimiter: null,
      header_row: null,
      columns: [],
      program: null,
      programs: [],
      time_zone: 'UTC',
      fields: [],
      rows: [],
    }
    return { file_type: 'archive', ...none, ...counted }
  } catch (error) {
    throw asRefusal(error)
  }
}

async function firstRows(start: Buffer, form: Parameters<typeof readRows>[1]): Promise<FileRow[]> {
  async function* parts() {
    const part_bytes = 32 * 1024
    for (let from = 0; from < start.length; from += part_bytes) yield start.subarray(from, from + part_bytes)
  }
  const rows: FileRow[] = []
  try {
    const pace = createPace()
    for await (const some of readRows(parts(), form)) {
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
