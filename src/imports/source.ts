import type { Db } from '../db/db.ts'
import { transaction } from '../db/db.ts'
import { FileError, type FileRow } from '../files/rows.ts'
import type { Resource } from '../resources/resource.ts'
import { type Column, custom, type Defined, plain } from './columns.ts'
import { createEvidence, type Readings } from './evidence.ts'
import { createMapping, type Mapping, type Source } from './mapping.ts'
import { programs } from './programs/index.ts'
import type { Program, ProgramFile } from './programs/program.ts'
import type { ImportRoom } from './rows.ts'
import type { ImportOptions } from './schema.ts'
import { formOf, holdLease, type ImportRow, type keepLease, readFileRows } from './store.ts'

// Which program wrote a file, and how it writes numbers and days. Found before the first row is imported, and stored with
// the import: so a continued import reads its rows as it began.

/** A program and the headers by which it was recognised. */
export type Recognised = { program: Program; file: ProgramFile; evidence: readonly string[] }

/** The program that wrote a file, by its headers: the one with the most evidence, of this kind of records if it can be. */
export function recognise(headers: readonly string[], kind: string): Recognised | null {
  const present = new Map(headers.map((header) => [plain(header), header]))
  let best: Recognised | null = null
  const rank = ({ file, evidence }: Recognised) =>
    (file.kind === kind ? 1000 : 0) + 2 * evidence.length + known(file, present)
  for (const program of programs)
    for (const file of program.files) {
      const evidence = file.evidence.map(
        (one) => [one].flat().flatMap((header) => present.get(plain(header)) ?? [])[0],
      )
      if (!evidence.every((header) => header !== undefined)) continue
      const found = { program, file, evidence: evidence as string[] }
      if (!best || rank(found) > rank(best)) best = found
    }
  return best
}

/** How many headers of a file a description knows. */
const known = ({ columns }: ProgramFile, present: ReadonlyMap<string, string>): number =>
  Object.keys(columns).filter((header) => present.has(plain(header))).length

/** The files of a program that a person has chosen: those of this kind. */
const chosen = (id: string, kind: string, headers: readonly string[]): Recognised | null => {
  const program = programs.find((one) => one.id === id)
  const files = program?.files.filter((file) => file.kind === kind) ?? []
  const present = new Map(headers.map((header) => [plain(header), header]))
  const [file] = [...files].sort((a, b) => known(b, present) - known(a, present))
  return program && file ? { program, file, evidence: [] } : null
}

/** Whether Rapport exported the file: it has an id, a time of creation, and names of fields alone. */
export const isOwn = (headers: readonly string[], { columns }: Pick<Resource, 'columns'>): boolean =>
  headers.includes('id') &&
  headers.includes('created_at') &&
  headers.every((header) => header === 'id' || Object.hasOwn(columns, header) || header.startsWith(custom))

/** The facts of a file that its headers tell. */
export function sourceOf(
  headers: readonly string[],
  { resource }: ImportRoom,
  { program: asked, time_zone }: Pick<ImportOptions, 'program' | 'time_zone'>,
): Source & { recognised: Recognised | null } {
  const is_own = asked === null && isOwn(headers, resource)
  const found = asked === null ? recognise(headers, resource.table) : chosen(asked, resource.table, headers)
  const recognised = is_own ? null : found
  const file = recognised?.file.kind === resource.table ? recognised.file : null
  return { program: file && (recognised?.program ?? null), file, is_own, readings: {}, time_zone, recognised }
}

/** Adds what rows show of how the file writes numbers and days. */
export function addEvidence(
  evidence: ReturnType<typeof createEvidence>,
  mapping: Mapping,
  rows: readonly FileRow[],
): void {
  for (const { names, values, problem, blank_lines } of rows) {
    if (problem || blank_lines) continue
    const columns = mapping.columnsOf(names)
    for (let n = 0; n < columns.length; n++) {
      const value = values[n]
      if (typeof value !== 'string' || value === '') continue
      const kind = mapping.evidenceOf(columns[n] as Column)
      if (kind) evidence.add((columns[n] as Column).header, value, kind)
    }
  }
}

type Stored = { program: string | null; file: number; is_own: boolean; readings: Readings }
type Reads = {
  db: Db
  clock: Parameters<typeof keepLease>[0]['clock']
  row: ImportRow
  room: ImportRoom
  options: ImportOptions
}

/** A stored source without its readings, which an import that has ended needs no more. */
export const withoutReadings = (source: string | null): string | null =>
  source === null ? null : JSON.stringify({ ...(JSON.parse(source) as Stored), readings: {} })

function restored({ program: id, file, is_own, readings }: Stored, time_zone: string): Source {
  const program = programs.find((one) => one.id === id) ?? null
  return { program, file: program?.files[file] ?? null, is_own, readings, time_zone }
}

/** The source of an import. The first time, it reads the file and stores what it finds. Throws Lost. */
export async function findSource(reads: Reads, defined: readonly Defined[]): Promise<Source> {
  const { db, clock, row, room, options } = reads
  if (row.source !== null) return restored(JSON.parse(row.source), options.time_zone)
  const form = formOf(row)
  const evidence = createEvidence()
  let source: Source | null = null
  let headers: readonly string[] = []
  let mapping: Mapping | null = null
  try {
    for await (const rows of readFileRows(reads)) {
      const first = rows.find(({ names }) => names.length)
      if (!mapping && first) {
        headers = first.names
        source = sourceOf(headers, room, options)
        mapping = createMapping(room, options, defined, source)
        // A file of lines may have other names later.
        const columns = mapping.columnsOf(headers)
        if (
          source.is_own ||
          ((form.format === 'csv' || form.format === 'xlsx') &&
            !columns.some((column) => mapping?.evidenceOf(column)))
        )
          break
      }
      if (mapping) addEvidence(evidence, mapping, rows)
    }
  } catch (error) {
    // The rows before the error are imported first. Reading them finds it again.
    if (!(error instanceof FileError)) throw error
  }
  source ??= sourceOf([], room, options)
  const delimiter = form.format === 'csv' ? form.delimiter : null
  const readings = evidence.readings({ program: source.program, delimiter, headers })
  const { program, file, is_own } = source
  const place = program && file ? program.files.indexOf(file) : -1
  const stored: Stored = { program: program?.id ?? null, file: place, is_own, readings }
  row.progress = 0
  row.source = JSON.stringify(stored)
  await transaction(db, async (tx) => {
    await holdLease(tx, row, clock.elapsed())
    await tx.updateTable('imports').set({ source: row.source }).where('id', '=', row.id).execute()
  })
  return { ...source, readings }
}
