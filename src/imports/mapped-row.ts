import type { Moment } from '../cells/days.ts'
import { splitName } from '../cells/person-names.ts'
import { folded } from '../cells/words.ts'
import type { CellError } from '../files/sheet-values.ts'
import type { Use, UsedCells } from './account.ts'
import { type Column, max_key_characters } from './columns.ts'
import type { Problem } from './errors.ts'

// The row that a mapping makes of cells. Each step puts a value somewhere, and returns what became of its cell.

/** A row as the body of a request, the references that it gives by name, and what became of its cells. */
export type MappedRow = {
  data: Record<string, unknown>
  names: Record<string, string>
  /** Why the row is not imported. */
  problems: Problem[]
  used: UsedCells
  /** The cells as they were sent. */
  values: readonly unknown[]
  /** Whether it names an owner who is not a member: a new record has none. */
  is_unowned?: boolean
}

/** A row while its cells are read: its parts, and the custom fields that have columns of their own. */
export type Row = MappedRow & { cells: Use[]; parts: Map<string, unknown>; custom: Map<string, unknown> }

export function putOnce(
  row: Row,
  into: Map<string, unknown> | Record<string, unknown>,
  key: string,
  column: Column,
  value: unknown,
  use: 'stored' | 'changed',
): Use {
  const before = into instanceof Map ? into.get(key) : into[key]
  if (before !== undefined) return sameValue(before, value) ? use : aside(row, column, value, 'other_value')
  if (into instanceof Map) into.set(key, value)
  else into[key] = value
  return use
}

export function putName(row: Row, column: Column, reference: string, value: unknown): Use {
  const name = nameOf(value)
  const [first, ...further] = column.form?.several || isOfPerson(reference) ? namesIn(name) : [name]
  if (!first) return aside(row, column, value, 'other_value')
  const read = isOfPerson(reference) ? addressed(first) : first
  const before = row.names[reference]
  if (before !== undefined && before !== read) return aside(row, column, value, 'other_value')
  row.names[reference] = read
  if (further.length)
    return aside(row, column, further.join('; '), 'further_value') === 'stored' ? 'changed' : 'further_value'
  return read === name ? 'stored' : 'changed'
}

const isOfPerson = (reference: string) => reference === 'contact_id' || reference === 'owner_id'

/** The names in a cell of several records. */
const namesIn = (text: string): string[] =>
  text
    .split(';')
    .map((name) => name.trim())
    .filter(Boolean)

/** The e-mail address of `Ana Ruiz (ana@acme.example)` or `Ana Ruiz <ana@acme.example>`, else the name. */
const addressed = (name: string): string => /[(<]([^\s()<>@]+@[^\s()<>@]+)[)>]$/.exec(name)?.[1] ?? name

export function putObject(row: Row, column: Column, value: unknown): Use {
  const { data } = row
  if (!isObjectOrNull(value)) {
    const message = 'custom_fields must be an object or null.'
    row.problems.push({ field: 'custom_fields', code: 'invalid_type', message })
    return 'row_failed'
  }
  if (data.custom_fields !== undefined) return addFields(row, column, value ?? {}, 'stored')
  data.custom_fields = value
  return 'stored'
}

/** Adds custom fields to those of a row. A value whose key has another one gets a key of its own, or is left out. */
function addFields({ data }: Row, { spare_key }: Column, values: object, use: Use): Use {
  const fields = { ...(data.custom_fields as Record<string, unknown>) }
  let used = use
  for (const [key, value] of Object.entries(values)) {
    const free = freeKey(fields, key, value)
    if (free === key || spare_key !== null) fields[free] = value
    else used = 'other_value'
  }
  data.custom_fields = fields
  return used
}

/** A key that has no other value: `plan`, else `plan 2`. */
export function freeKey(fields: Record<string, unknown>, key: string, value: unknown): string {
  const isFree = (one: string) =>
    !Object.hasOwn(fields, one) || isEmpty(fields[one]) || sameValue(fields[one], value)
  if (isFree(key) || isEmpty(value)) return key
  for (let n = 2; ; n++) {
    const end = ` ${n}`
    const numbered = [...key].slice(0, max_key_characters - end.length).join('') + end
    if (isFree(numbered)) return numbered
  }
}
const isEmpty = (value: unknown) => value === null || value === undefined

/** Keeps a value that its column has no field for, if the import keeps the rest. */
export function aside(row: Row, { spare_key }: Column, value: unknown, reason: Use): Use {
  if (spare_key === null) return reason
  const key = row.custom.has(spare_key)
    ? freeKey(Object.fromEntries(row.custom), spare_key, value)
    : spare_key
  row.custom.set(key, value)
  return 'stored'
}

/** Puts the cells of a part aside that is not used. */
export function leave(row: Row, part: string): void {
  row.used.columns.forEach((column, n) => {
    const is_used = row.cells[n] === 'stored' || row.cells[n] === 'changed'
    if (column.target === part && is_used) row.cells[n] = aside(row, column, row.values[n], 'other_value')
  })
}

/** Splits the full name of a person. Beside a first and a last name, a name that says something else is put aside. */
export function joinName(row: Row, [first, last]: readonly [string, string]): void {
  const name = row.parts.get('name')
  if (typeof name !== 'string') return
  const { data, parts } = row
  if (data[first] === undefined && data[last] === undefined) {
    const split = splitName(name)
    data[first] = split.first
    if (split.last !== null) data[last] = split.last
    return
  }
  const whole = folded([data[first], parts.get('middle_name'), data[last]].filter(Boolean).join(' '))
  const at = row.used.columns.findIndex(
    ({ target }, n) => target === 'name' && row.used.cells[n] === 'stored',
  )
  const { first: given, last: family } = splitName(name)
  if (at < 0 || folded(name) === whole || folded(`${given} ${family ?? ''}`) === whole) return
  row.cells[at] = aside(row, row.used.columns[at] as Column, name, 'other_value')
}

export function putError(row: Row, column: Column, { text }: CellError): Use {
  const { target, reason, header } = column
  if (target === null) return aside(row, column, text, reason as Use)
  const message = `The cell of "${header.slice(0, 100)}" has the error ${text}. Correct its formula, or clear the cell.`
  row.problems.push({ field: target, code: 'cell_error', message })
  return 'row_failed'
}

/** Adds the custom fields that have columns of their own. They go before those of an object in one cell. */
export function addCustom(row: Row): void {
  const { data, custom: values, cells } = row
  const { custom_fields = null } = data
  if (!values.size) return
  data.custom_fields = Object.fromEntries(values)
  const at = row.used.columns.findIndex(({ target }) => target === 'custom_fields')
  if (custom_fields)
    cells[at] = addFields(row, row.used.columns[at] as Column, custom_fields, cells[at] as Use)
}

const isObjectOrNull = (value: unknown): value is object | null =>
  typeof value === 'object' && !Array.isArray(value)
export const sameValue = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)
const isMoment = (value: object | null): value is Moment => value !== null && 'day' in value
// As the text of the same number is. Writing a number takes much longer.
const shortest_number = /^-?(?:0|[1-9]\d{0,9})(?:\.\d{0,4}[1-9])?$/
export const isAsWritten = (value: unknown, text: string) =>
  (typeof value === 'object' && (!isMoment(value) || value.day === text.trim())) ||
  (typeof value === 'number' && shortest_number.test(text) && Number(text) === value) ||
  String(value) === text.trim() ||
  (typeof value === 'string' && value.trim() === text.trim())

/** The name of a reference: the text of a cell, or of the record in a line of JSON. */
function nameOf(value: unknown): string {
  const name = typeof value === 'object' ? (value as { name?: unknown } | null)?.name : value
  return typeof name === 'string' ? name.trim() : ''
}
