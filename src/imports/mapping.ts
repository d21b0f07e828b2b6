import { instantOf } from '../cells/days.ts'
import { googleValues, labelled, severalOf } from '../cells/words.ts'
import type { FileRow } from '../files/rows.ts'
import { CellError, Percentage } from '../files/sheet-values.ts'
import type { ImportForm, Room } from '../resources/room.ts'
import type { Use } from './account.ts'
import {
  type Column,
  createColumns,
  custom,
  type Defined,
  type MappingOptions,
  type Target,
} from './columns.ts'
import type { Problem } from './errors.ts'
import { no_reading, type Reading, type Readings } from './evidence.ts'
import {
  addCustom,
  aside,
  isAsWritten,
  joinName,
  leave,
  type MappedRow,
  putError,
  putName,
  putObject,
  putOnce,
  type Row,
  sameValue,
} from './mapped-row.ts'
import type { OwnTexts } from './own-texts.ts'
import type { Program, ProgramFile } from './programs/program.ts'
import { type Form, readersOf } from './readers.ts'

// From the cells of a file to the fields of a body.

/** The facts of a file. `is_own`: Rapport wrote it, so its cells are values as they are. */
export type Source = {
  program: Program | null
  file: ProgramFile | null
  is_own: boolean
  readings: Readings
  time_zone: string
}
export const own_source: Source = { program: null, file: null, is_own: true, readings: {}, time_zone: 'UTC' }

export type Mapping = {
  /** The targets that a column may have. */
  targets: readonly Target[]
  columnsOf(headers: readonly string[]): readonly Column[]
  /** The kind of reading that the cells of a column show; null if each cell has one reading. */
  evidenceOf(column: Column): 'decimal' | 'order' | null
  /** Whether the cells of a column are times, which have a zone. */
  hasTimes(column: Column): boolean
  /** Reads a row. `now` is a time of ISO 8601. */
  read(row: FileRow, now: string): MappedRow
}

const max_remembered = 1000
// The number of a sheet has one reading.
const exact: Reading = { decimal: '.', order: null }

/** Reads the rows of a file for a resource. */
export function createMapping(
  room: Room & { import: ImportForm },
  options: MappingOptions,
  defined: readonly Defined[] = [],
  source: Source = own_source,
  own: OwnTexts = {},
): Mapping {
  const { time_zone, readings, is_own } = source
  const form = room.import
  const readers = readersOf(room, defined, source, own)
  const fields = new Set(
    [...readers.keys()].filter((name) => !name.startsWith(custom) && !(name in (form.parts ?? {}))),
  )
  const columns = createColumns({ room, fields, file: source.file, is_own, defined }, options)

  const remembered = new Map<string, readonly Column[]>()
  let last: { headers: readonly string[]; columns: readonly Column[] } | null = null
  function columnsOf(headers: readonly string[]): readonly Column[] {
    // All rows of a CSV file share their headers.
    if (last?.headers === headers) return last.columns
    const name = JSON.stringify(headers)
    const found = remembered.get(name) ?? columns.of(headers)
    if (remembered.size < max_remembered) remembered.set(name, found)
    last = { headers, columns: found }
    return found
  }

  function read({ names: headers, values, is_typed }: FileRow, now: string): MappedRow {
    const of_row = columnsOf(headers)
    const cells: Use[] = new Array(of_row.length)
    const row: Row = {
      data: {},
      names: {},
      problems: [],
      used: { columns: of_row, cells },
      values,
      cells,
      parts: new Map(),
      custom: new Map(),
    }
    // If several columns have one field, the first value is used.
    for (const rank of ranksOf(of_row))
      for (let n = 0; n < of_row.length; n++) {
        const column = of_row[n] as Column
        if (column.rank !== rank) continue
        const value = values[n]
        cells[n] = value === '' || value === undefined ? 'empty' : put(row, column, value, is_typed === true)
      }
    if (form.split_name) joinName(row, form.split_name)
    if (form.join)
      for (const problem of form.join({
        ...row,
        now,
        timeOf: (moment) => instantOf(moment, time_zone),
        leave: (part) => leave(row, part),
      }))
        row.problems.push({ ...problem, code: 'not_allowed' })
    for (const [field, value] of Object.entries(source.file?.fixed ?? {})) row.data[field] ??= value
    addCustom(row)
    if (source.program?.has_notes_behind && isNote(row)) row.problems = [no_record]
    return row
  }

  function put(row: Row, column: Column, given: unknown, is_typed: boolean): Use {
    const { target, reason } = column
    const { values } = row
    if (given instanceof CellError) return putError(row, column, given)
    // A field reads the number of a sheet as it reads a text: it may be a telephone number.
    const is_exact = is_typed && target !== null && typeof given !== 'string' && !isUndefined(target)
    const value = is_exact || given instanceof Percentage ? String(given) : unguarded(given)
    if (!is_own && typeof value === 'string' && value.trim() === '') return 'empty'
    if (target === null)
      return isUsedPrefix(column, value, values) ? 'stored' : aside(row, column, value, reason as Use)
    const reference = columns.references.get(target)
    if (reference) return putName(row, column, reference, value)
    if (target === 'name' && form.split_name) return putOnce(row, row.parts, 'name', column, value, 'stored')
    if (form.parts?.[target] === 'texts') {
      row.parts.set(target, [...((row.parts.get(target) as unknown[]) ?? []), String(value).trim()])
      return 'stored'
    }
    const placed = placeOf(row, target, column, values)
    if (!placed) return aside(row, column, value, 'not_a_phone')
    const reader = readers.get(target)
    if (value === null && form.parts && target in form.parts) return 'empty'
    if (column.is_likely && typeof value !== 'string') return aside(row, column, value, 'unknown_value')
    if (typeof value !== 'string' || !reader) {
      if (target === 'custom_fields') return putObject(row, column, value)
      return putOnce(row, placed.into, placed.key, column, value, 'stored')
    }
    const whole = withPrefix(value, column, values)
    const parts = is_own ? [value] : severalIn(reader.form, whole)
    const [text = value, ...further] = parts
    const cell = reader.read(text, is_exact ? exact : (readings[column.header] ?? no_reading), column)
    if (cell === 'unknown_value') return aside(row, column, value, 'unknown_value')
    if ('problem' in cell) {
      row.problems.push({ field: target, ...cell.problem })
      return 'row_failed'
    }
    if (target === 'custom_fields') return putObject(row, column, cell.value)
    const { into, key } = placed
    const before = into instanceof Map ? into.get(key) : into[key]
    if (before !== undefined && !sameValue(before, cell.value))
      return aside(row, column, whole, 'other_value')
    const use = putOnce(
      row,
      into,
      key,
      column,
      cell.value,
      isAsWritten(cell.value, further.length ? text : whole) ? 'stored' : 'changed',
    )
    if (!further.length) return use
    return aside(row, column, further.join('; '), 'further_value') === 'stored' ? 'changed' : 'further_value'
  }

  /** Whether no definition and no schema says what a value is. */
  const isUndefined = (target: Target) => target.startsWith(custom) && !readers.has(target)

  /** Without the sign that a program writes before a cell that begins like a formula. */
  function unguarded(value: unknown): unknown {
    const guard = source.program?.guard
    const is_guarded = guard !== undefined && typeof value === 'string' && value.startsWith(guard)
    return is_guarded && /^[=+\-@\t\r]/.test(value.slice(guard.length)) ? value.slice(guard.length) : value
  }

  const withPrefix = (text: string, { prefix_at }: Column, values: readonly unknown[]): string => {
    const prefix = prefix_at < 0 ? '' : String(unguarded(values[prefix_at] ?? '')).trim()
    return prefix === '' || text.trim().startsWith('+') ? text : `${prefix} ${text.trim()}`
  }

  /** Whether a calling code stands before a number, which has it or gets it. */
  function isUsedPrefix({ prefix_of }: Column, code: unknown, values: readonly unknown[]): boolean {
    const number = prefix_of < 0 ? '' : String(unguarded(values[prefix_of] ?? '')).trim()
    return number !== '' && (!number.startsWith('+') || number.startsWith(String(code).trim()))
  }

  /** Where a value goes: to the body, the parts or the custom fields. Labels tell telephone numbers apart. Null: nowhere. */
  function placeOf(row: Row, target: Target, { label_at }: Column, values: readonly unknown[]) {
    if (target.startsWith(custom)) return { into: row.custom, key: target.slice(custom.length) }
    if (form.parts && target in form.parts) return { into: row.parts, key: target }
    const label = label_at < 0 ? '' : String(values[label_at] ?? '')
    const named = labelled(source.program?.labels, label)
    return named === null ? null : { into: row.data, key: named ?? target }
  }

  const readAs = ({ target }: Column) => (target === null ? undefined : readers.get(target)?.form)
  const hasTimes = (column: Column): boolean => ['time', 'moment'].includes(readAs(column) ?? '')
  function evidenceOf(column: Column): 'decimal' | 'order' | null {
    const kind = readAs(column)
    if (kind === 'number' || kind === 'percent') return 'decimal'
    return kind === 'day' || kind === 'time' || kind === 'moment' ? 'order' : null
  }
  return { targets: columns.targets, columnsOf, evidenceOf, hasTimes, read }
}

const isNote = ({ cells }: Row) => cells.length > 2 && cells.filter((use) => use !== 'empty').length === 1
const no_record: Problem = {
  field: '',
  code: 'not_a_record',
  message: 'The row has one value, as the notes behind a report have. It is not imported.',
}

const no_ranks = [0]
const ranksOf = (columns: readonly Column[]) => (columns.some(({ rank }) => rank > 0) ? [2, 1, 0] : no_ranks)

/** The values of a cell, of which a field takes the first. */
function severalIn(form: Form, text: string): string[] {
  if (form === 'email' || form === 'phone') return severalOf(text, form)
  return form === 'tags' || form === 'object' ? [text] : googleValues(text)
}
