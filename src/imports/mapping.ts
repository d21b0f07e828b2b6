import { excessOf, parseJson } from '../files/json-lines.ts'
import type { FileRow } from '../files/rows.ts'
import { splitLabels, splitTags } from '../files/tags.ts'
import type { ImportForm, Room } from '../resources/room.ts'

// From the columns of a file to the fields of a body.

/** The target of a column: a field, `company` for a reference by name, `name` to split, or `custom_fields.KEY`. */
export type Target = string

export type MappingOptions = {
  /** The target of a column by its header; null: the column is left out. */
  columns: Readonly<Record<string, Target | null>>
  rest: 'custom_fields' | 'ignore'
}

/** A row as the body of a request, and the references that it gives by name. */
export type MappedRow = { data: Record<string, unknown>; names: Record<string, string> }

export type Mapping = {
  /** The targets that a column may have. */
  targets: readonly Target[]
  targetOf(header: string): Target | null
  read(row: FileRow): MappedRow
}

/** A definition of a custom field, whose values have a type. */
export type Defined = { key: string; type: string }

type Property = { type?: string | string[]; format?: string; readOnly?: boolean }
type Parse = (value: unknown) => unknown

const custom = 'custom_fields.'
const max_key_characters = 64
// A longer header is not compared with known ones, and not remembered.
const max_header_characters = 255
// The parser of bodies refuses this key.
const unusable = '__proto__'
/** Without case, blanks and signs: `E-mail 1 - Value` is `email1value`. */
const plain = (header: string) => header.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Reads the rows of a file for a resource. */
export function createMapping(
  room: Room & { import: ImportForm },
  { columns, rest }: MappingOptions,
  defined: readonly Defined[] = [],
): Mapping {
  const custom_parsers = new Map(defined.map(({ key, type }) => [key, parserOf({ type })]))
  const fields = fieldsOf(room)
  const references = new Map(room.import.by_name.map((field) => [field.replace(/_id$/, ''), field]))
  const split = room.import.split_name
  const targets = [...fields.keys(), ...references.keys(), ...(split ? ['name'] : [])]
  const known = new Map([
    ...aliasesOf(room),
    ...targets.map((target): [string, Target] => [plain(target), target]),
  ])
  const ignored = new Set(['id', ...Object.keys(room.resource.columns)])
  const singular = plain(room.resource.noun)

  function guess(header: string): Target | null {
    if (targets.includes(header)) return header
    if (ignored.has(header) || header === '' || header === unusable || header === custom + unusable)
      return null
    if (header.startsWith(custom)) return header
    const target = header.length <= max_header_characters && alias(header)
    if (target) return target
    if (rest !== 'custom_fields') return null
    // A character can have two units.
    const start = header.slice(0, 2 * max_key_characters)
    return custom + [...start].slice(0, max_key_characters).join('')
  }
  function alias(header: string): Target | undefined {
    // Pipedrive begins each header with the kind: `Person - Name`.
    const [, kind = '', own = ''] = /^(Person|Organization|Deal|Activity) - (.+)$/.exec(header) ?? []
    return (
      known.get(plain(header)) ??
      (kind ? known.get(plain(own)) : undefined) ??
      known.get(plain(header).replace(singular, ''))
    )
  }
  const found = new Map<string, Target | null>(Object.entries(columns))
  const targetOf = (header: string): Target | null => {
    let target = found.get(header)
    if (target === undefined) {
      target = guess(header)
      // Lines of JSON may have any names.
      if (found.size < 1000 && header.length <= max_header_characters) found.set(header, target)
    }
    return target
  }

  // If several columns have one field, the first value is used. Columns that `columns` names have precedence.
  const chosen = new Set(Object.keys(columns))
  const passes = chosen.size ? [true, false] : [false]

  function read({ names: headers, values }: FileRow): MappedRow {
    const row: MappedRow = { data: {}, names: {} }
    const custom_values = new Map<string, unknown>()
    for (const is_chosen of passes)
      for (let n = 0; n < headers.length; n++) {
        const value = values[n]
        const header = headers[n] as string
        if (value === '' || value === undefined || chosen.has(header) !== is_chosen) continue
        const target = targetOf(header)
        if (target === null) continue
        const key = target.startsWith(custom) ? target.slice(custom.length) : null
        if (key === null) set(row, target, value, header)
        else if (!custom_values.has(key)) custom_values.set(key, custom_parsers.get(key)?.(value) ?? value)
      }
    addCustom(row, custom_values)
    if (split) splitName(row, split)
    return row
  }

  function set({ data, names }: MappedRow, target: Target, value: unknown, header: string): void {
    const reference = references.get(target)
    if (reference) {
      const name = nameOf(value)
      if (name) names[reference] ??= name
    } else if (data[target] === undefined) {
      const parse = target === 'tags' && plain(header) !== 'tags' ? labels : fields.get(target)
      data[target] = parse ? parse(value) : value
    } else if (target === 'custom_fields') {
      const others = fields.get(target)?.(value)
      // The schema refuses any other value.
      if (!isObjectOrNull(others)) data[target] = others
      else if (isObjectOrNull(data[target])) data[target] = { ...others, ...data[target] }
    }
  }
  return { targets, targetOf, read }
}

const aliasesOf = ({ import: { headers } }: { import: ImportForm }): [string, Target][] =>
  Object.entries(headers).flatMap(([target, names]) =>
    names.map((name): [string, Target] => [plain(name), target]),
  )

/** The writable fields with the functions that read a cell. */
function fieldsOf({ batch }: Room): Map<string, Parse> {
  const schemas = [batch?.create, batch?.update] as { properties?: Record<string, Property> }[]
  const fields = new Map<string, Parse>()
  for (const { properties = {} } of schemas)
    for (const [name, property] of Object.entries(properties))
      if (!property.readOnly) fields.set(name, fields.get(name) ?? parserOf(property))
  return fields
}

function parserOf({ type, format }: Property): Parse {
  const types = [type].flat()
  const ofText = (parse: (text: string) => unknown) => (value: unknown) =>
    typeof value === 'string' ? parse(value) : value
  if (types.includes('array')) return ofText(splitTags)
  if (types.includes('object')) return ofText(parseObject)
  if (types.includes('boolean')) return ofText(parseBoolean)
  if (types.includes('number') || types.includes('integer')) return ofText(parseNumber)
  if (format === 'day' || types.includes('date')) return ofText(parseDay)
  if (format === 'date-time') return ofText(parseTime)
  return (value) => value
}

const isObjectOrNull = (value: unknown): value is object | null =>
  typeof value === 'object' && !Array.isArray(value)

/** Adds the custom fields that have columns of their own. */
function addCustom({ data }: MappedRow, values: ReadonlyMap<string, unknown>): void {
  const { custom_fields = {} } = data
  // The schema refuses any other value.
  if (values.size && isObjectOrNull(custom_fields))
    data.custom_fields = { ...custom_fields, ...Object.fromEntries(values) }
}

const labels: Parse = (value) => (typeof value === 'string' ? splitLabels(value) : value)

// Each sign can match in one way only: otherwise a long cell would take minutes.
const plain_number = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
/** 12.500,50 and 1.250.000 and 12,5 and 0,125 */
const with_decimal_comma =
  /^[+-]?(\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,}|\d+,(\d{1,2}|\d{4,})|(0|\d{4,}),\d{3})$/
/** 12,500.50 and 1,250,000 */
const with_decimal_point = /^[+-]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})$/

/** 12.500: a program that writes a decimal point writes no zero at the end. */
const unclear = /^[+-]?[1-9]\d{0,2}\.\d\d0$/
/** The same beside a currency: 12.345 € */
const unclear_amount = /^[+-]?[1-9]\d{0,2}\.\d{3}$/

// A text that cannot be read, or in two ways, such as 1,250, stays as it is. Then the schema refuses it with its field.
function parseNumber(text: string): unknown {
  const given = text.trim()
  const amount = given.replace(/^[€$£]|[€$£]$/, '').trim()
  if ((amount === given ? unclear : unclear_amount).test(amount)) return text
  if (plain_number.test(amount)) return Number(amount)
  if (with_decimal_comma.test(amount)) return Number(amount.replaceAll('.', '').replace(',', '.'))
  return with_decimal_point.test(amount) ? Number(amount.replaceAll(',', '')) : text
}

const words_of = { true: ['true', 'yes', 'ja'], false: ['false', 'no', 'nein'] }

function parseBoolean(text: string): unknown {
  const word = text.trim().toLowerCase()
  return words_of.true.includes(word) || (words_of.false.includes(word) ? false : text)
}

/** A text that begins with a day such as 24.12.2026, with this day as 2026-12-24. */
const withPlainDay = (text: string): string =>
  text.replace(
    /^\s*(\d{1,2})\.(\d{1,2})\.(\d{4})(,?\s|$)/,
    (_, day: string, month: string, year: string, end: string) =>
      `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${end && ' '}`,
  )

function parseDay(given: string): string {
  const text = withPlainDay(given)
  return /^\d{4}-\d\d-\d\d[T ]/.test(text) ? text.slice(0, 10) : text
}

function parseTime(given: string): string {
  const text = withPlainDay(given)
  const [, day, time = '00:00:00'] = /^\s*(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d(?::\d\d)?))?\s*$/.exec(text) ?? []
  return day ? `${day}T${time.length === 5 ? `${time}:00` : time}Z` : given
}

function parseObject(text: string): unknown {
  try {
    return excessOf(text) ? text : parseJson(text)
  } catch {
    return text
  }
}

/** The name of a reference: the text of a cell, or of the record in a line of JSON. */
function nameOf(value: unknown): string {
  const name = typeof value === 'object' ? (value as { name?: unknown } | null)?.name : value
  return typeof name === 'string' ? name.trim() : ''
}

function splitName({ data }: MappedRow, [first, last]: readonly [string, string]): void {
  const { name } = data
  delete data.name
  if (typeof name !== 'string' || data[first] !== undefined || data[last] !== undefined) return
  // No expression with several runs of blanks: it would take minutes for a long cell of blanks.
  const trimmed = name.trim()
  const after = trimmed.split(/\s+/).at(-1) as string
  const before = trimmed.slice(0, trimmed.length - after.length).trimEnd()
  data[first] = before || name
  if (before) data[last] = after
}
