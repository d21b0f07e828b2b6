import { type TSchema, Type } from 'typebox'
import { type FieldProblem, refuse } from '../errors.ts'
import { time } from '../http/fields.ts'
import {
  end_of,
  type FilterKind,
  filter_of,
  type Parameter,
  readValue,
  readWanted,
  type Wanted,
} from '../http/filter-values.ts'
import type { Column, Resource } from './resource.ts'

// The filters that follow from the columns of a resource. A column has one if an index finds its values.

/** A field that lists can be filtered by. */
export type FilterField = Parameter & {
  /** It takes FIELD_from and FIELD_to. */
  ranged: boolean
  column: Column
}

/** A condition of a request on one field. */
export type Condition = { field: FilterField } & (
  | { wanted: Wanted }
  | { from?: string | number; to?: string | number }
)

type Described = { type?: string | string[]; format?: string; enum?: unknown[]; maxLength?: number }

/** The fields that the lists of a resource can be filtered by. */
export const filterFieldsOf = (resource: Resource): FilterField[] =>
  Object.entries(resource.columns).flatMap(([name, column]) => {
    const kind = kindOf(resource, name, column)
    if (!kind) return []
    const { type, enum: codes } = column.shown as Described
    return {
      name,
      kind,
      ...(kind === 'code' && { choices: (codes ?? []).filter((code) => code !== null) as string[] }),
      nullable: [type].flat().includes('null'),
      ranged: kind === 'number' || kind === 'day' || kind === 'time',
      column,
    }
  })

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
  if ([type].flat().some((one) => one === 'integer' || one === 'number'))
    return resource.part_of ? null : 'number'
  return counted || filtered || matches(resource, name) ? 'text' : null
}

/** Whether lists find equal values of an e-mail or a telephone number, by the index of duplicates. */
export const matches = ({ duplicates }: Resource, name: string): name is 'email' | 'phone' =>
  (name === 'email' || name === 'phone') && duplicates.includes(name)

const forms: Record<FilterKind, string> = {
  id: 'The id',
  member: 'The id of a member, or `me`',
  code: 'The code',
  text: 'The text',
  number: 'The number',
  day: 'The day',
  time: 'The time',
}

/** The schema of a filter: one value or several. */
export function valuesFilter(parameter: Parameter, about?: string) {
  const { kind, choices, nullable } = parameter
  const sentences = [
    about,
    `${forms[kind]}, or several with commas between them. \`!\` before a value means "not".`,
    choices && `The codes: ${choices.join(', ')}.`,
    nullable && '`null`: without a value; `!null`: with one.',
  ]
  const type = kind === 'id' ? ['string', 'integer'] : 'string'
  const description = sentences.filter(Boolean).join(' ')
  return Type.Optional(
    Type.Unsafe<string>({ type, maxLength: 4000, description, 'x-filter': true, [filter_of]: parameter }),
  )
}

/** The schema of an end of a range. A time becomes UTC. */
function endOfRange(parameter: Parameter, description: string): TSchema {
  if (parameter.kind === 'time') return time(description)
  return Type.Optional(Type.String({ maxLength: 64, description, [end_of]: parameter }))
}

/** The parameters of the filters of a resource, with their schemas. */
export const filterParameters = (resource: Resource): Record<string, TSchema> =>
  Object.fromEntries([
    ...filterFieldsOf(resource).flatMap((field): [string, TSchema][] => [
      [field.name, valuesFilter(field)],
      ...(field.ranged
        ? [field.name, ...shortNamesOf(resource, field.name)].flatMap((parameter) => endsOf(parameter, field))
        : []),
    ]),
  ])

function endsOf(parameter: string, field: FilterField): [string, TSchema][] {
  const end = (side: 'from' | 'to', limit: string): [string, TSchema] => {
    const name = `${parameter}_${side}`
    return [name, endOfRange({ ...field, name }, `\`${field.name}\` of ${limit} this value.`)]
  }
  return [end('from', 'at least'), end('to', 'at most')]
}

/** Reads the filters of a query by its resource. Throws 422 with every value that is malformed. */
export function conditionsOf(resource: Resource, query: object): Condition[] {
  const sent = query as Record<string, unknown>
  const problems: FieldProblem[] = []
  const accepted = <Value>(read: { value: Value } | FieldProblem): Value | undefined => {
    if (!('code' in read)) return read.value
    problems.push(read)
    return undefined
  }
  const conditions = filterFieldsOf(resource).flatMap((field): Condition[] => {
    const { name, ranged } = field
    const text = sent[name]
    const wanted = text === undefined ? null : readWanted(field, String(text))
    if (wanted && 'code' in wanted) problems.push(wanted)
    const found: Condition[] = wanted && !('code' in wanted) ? [{ field, wanted }] : []
    if (!ranged) return found
    for (const parameter of [name, ...shortNamesOf(resource, name)]) {
      const end = (side: 'from' | 'to') => {
        const written = sent[`${parameter}_${side}`]
        if (written === undefined) return undefined
        return accepted(readValue({ ...field, name: `${parameter}_${side}` }, String(written).trim()))
      }
      const [from, to] = [end('from'), end('to')]
      if (from !== undefined || to !== undefined)
        found.push({ field, ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
    }
    return found
  })
  refuse(problems)
  return conditions
}

const shortNamesOf = ({ filter_aliases }: Resource, name: string): string[] =>
  Object.entries(filter_aliases).flatMap(([short, of]) => (of === name ? [short] : []))
