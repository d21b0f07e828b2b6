import type { TOptional, TSchema, TString } from 'typebox'
import { type FieldProblem, refuse } from '../../errors.ts'
import { MaybeText } from '../../http/fields.ts'
import { valuesFilter } from '../../http/filter-parameters.ts'
import {
  end_of,
  type FilterKind,
  type Parameter,
  readValue,
  readWanted,
  type Wanted,
} from '../../http/filter-values.ts'
import type { Column, Resource } from '../resource.ts'

// The filters that follow from the columns of a resource. A column has one if an index finds its values.

/** A field that lists can be filtered by. */
export type FilterField = Parameter & {
  /** It takes FIELD_from and FIELD_to. */
  ranged: boolean
  column: Column
}

/** A condition of a request on one field. */
export type Condition = { field: FilterField; wanted: Wanted } | Range
type Value = string | number
export type Range = { field: FilterField; from?: Value; to?: Value }

type Described = { type?: string | string[]; format?: string; enum?: unknown[]; maxLength?: number }

const ranged_kinds: readonly FilterKind[] = ['number', 'integer', 'day', 'time']

/** Caches a value for each resource, so that requests do not make it again. */
function perResource<T extends object>(make: (resource: Resource) => T): (resource: Resource) => T {
  const made = new WeakMap<Resource, T>()
  return (resource) => {
    const known = made.get(resource)
    if (known) return known
    const value = make(resource)
    made.set(resource, value)
    return value
  }
}

/** The fields that the lists of a resource can be filtered by. */
export const filterFieldsOf = perResource((resource): readonly FilterField[] =>
  Object.entries(resource.columns).flatMap(([name, column]) => {
    const kind = kindOf(resource, name, column)
    if (!kind) return []
    const { type, enum: codes } = column.shown as Described
    return {
      name,
      kind,
      ...(kind === 'code' && { choices: (codes ?? []).filter((code) => code !== null) as string[] }),
      nullable: [type].flat().includes('null'),
      ranged: ranged_kinds.includes(kind),
      ...((kind === 'day' || kind === 'time') && {
        relative: resource.unfinished?.by === name ? ('due' as const) : (true as const),
      }),
      // As in the base interface.
      ...(kind === 'text' && column.counted && { empty: 'anything' as const }),
      column,
    }
  }),
)

function kindOf(resource: Resource, name: string, column: Column): FilterKind | null {
  const { shown, embeds, refers_to, member, author, encoding, counted, filtered } = column
  if (embeds || author || encoding === 'json' || encoding === 'flag') return null
  if (column.stored === false && !resource.filter_by[name]) return null
  if (refers_to) return 'id'
  if (member) return 'member'
  const { type, format, enum: codes } = shown as Described
  if (codes && counted) return 'code'
  if (format === 'day') return 'day'
  if (format === 'date-time') return 'time'
  const number = [type].flat().find((one) => one === 'integer' || one === 'number')
  if (number) return resource.part_of ? null : (number as 'integer' | 'number')
  if (!counted && !filtered && !matches(resource, name)) return null
  return format === 'email_address' ? 'email' : 'text'
}

/** Whether lists find equal values of an e-mail, a telephone number or a website, by the index of its key. */
export const matches = (
  { duplicates, columns }: Resource,
  name: string,
): name is 'email' | 'phone' | 'website' =>
  name === 'website'
    ? columns.website?.filtered === 'by_key'
    : (name === 'email' || name === 'phone') && duplicates.includes(name)

/** A text as the one value of a filter (http/filter-values.ts). */
export const writtenValue = (text: string): string =>
  text.replaceAll(/[,!]/g, '\\$&').replace(/^\\*null$/, '\\$&')

type RangeEnd = TOptional<TString>

/** The schema of an end of a range. */
function endOfRange(parameter: Parameter, limit: string): RangeEnd {
  const { kind, end } = parameter
  const schema = { maxLength: 64, description: limit, [end_of]: parameter }
  if (kind !== 'time') return MaybeText(schema)
  const description = `${limit} A time, or a day. A day counts from its ${end === 'from' ? 'start' : 'end'}, in UTC.`
  return MaybeText({ ...schema, description, 'x-time-or-day': true })
}

/** The parameters of the filters of a resource, with their schemas. */
export const filterParameters = perResource(
  (resource): Record<string, TSchema> =>
    Object.fromEntries(
      filterFieldsOf(resource).flatMap((field): [string, TSchema][] => [
        [field.name, valuesFilter(field)],
        ...(field.ranged
          ? [field.name, ...shortNamesOf(resource, field.name)].flatMap((parameter) =>
              Object.entries(rangeFilter(field, parameter)),
            )
          : []),
      ]),
    ),
)

/** The parameters of both ends of a range, with their schemas. */
export function rangeFilter<Name extends string>(
  field: Parameter & { name: Name },
  parameter: Name = field.name,
) {
  const end = (side: 'from' | 'to', limit: string) =>
    endOfRange(
      { ...field, name: `${parameter}_${side}`, end: side },
      `\`${field.name}\` of ${limit} this value.`,
    )
  return {
    [`${parameter}_from`]: end('from', 'at least'),
    [`${parameter}_to`]: end('to', 'at most'),
  } as Record<`${Name}_from` | `${Name}_to`, RangeEnd>
}

/** The use of a parameter: it filters by values of a field, or by an end of its range. */
type Use = { field: FilterField; end?: 'from' | 'to' }

const usesOf = perResource((resource): ReadonlyMap<string, Use> => {
  const made = new Map<string, Use>()
  for (const field of filterFieldsOf(resource)) {
    made.set(field.name, { field })
    if (!field.ranged) continue
    for (const parameter of [field.name, ...shortNamesOf(resource, field.name)])
      for (const end of ['from', 'to'] as const) made.set(`${parameter}_${end}`, { field, end })
  }
  return made
})

/** Reads the filters of a query by its resource. Throws 422 with every value that is malformed. */
export function conditionsOf(resource: Resource, query: object): Condition[] {
  const problems: FieldProblem[] = []
  const conditions: Condition[] = []
  const ranges = new Map<string, Range>()
  const known = usesOf(resource)
  for (const [name, text] of Object.entries(query)) {
    const { field, end } = known.get(name) ?? {}
    if (!field) continue
    const read = end
      ? readValue({ ...field, name, end }, String(text).trim())
      : readWanted(field, String(text))
    if (!read) continue
    if ('code' in read) problems.push(read)
    else if (!('value' in read)) conditions.push({ field, wanted: read })
    else if (end) ranges.set(field.name, narrower({ field, [end]: read.value }, ranges.get(field.name)))
  }
  refuse(problems)
  return [...conditions, ...ranges.values()]
}

/** The part that two ranges of a field share: a range has a short name, too. */
export function narrower(range: Range, other: Range = range): Range {
  const inner = (end: 'from' | 'to', sign: 1 | -1) =>
    [range[end], other[end]]
      .filter((value) => value !== undefined)
      .reduce<Value | undefined>((a, b) => (a === undefined || (b > a ? sign : -sign) > 0 ? b : a), undefined)
  const [from, to] = [inner('from', 1), inner('to', -1)]
  return { field: range.field, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

const shortNamesOf = ({ filter_aliases }: Resource, name: string): string[] =>
  Object.entries(filter_aliases).flatMap(([short, of]) => (of === name ? [short] : []))
