import type { Schemas } from '../api/client.ts'
import { all_kinds } from '../kinds.ts'
import type { Definition } from '../record/fields/definitions.ts'
import type { Condition, Operator } from './condition-text.ts'
import { includesEvent } from './event-groups.ts'

type Schema = {
  type?: string | string[]
  format?: string
  enum?: string[]
  const?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
}

/** How the value of a field is entered, and its label if a person gave it one. */
export type FieldType = {
  kind: 'text' | 'number' | 'boolean' | 'day' | 'time' | 'list'
  choices: string[]
  label?: string
}

// The service judges before these are known, or they are the same in every event of a webhook.
const left_out = ['id', 'sequence', 'webhook_id', 'data', 'previous', 'actor', 'test']

/** The fields of the payloads of events, with how their values are entered. */
export function conditionFields(
  types: readonly Schemas['EventType'][] | undefined,
  definitions: readonly Definition[],
  events: readonly string[],
): Map<string, FieldType> {
  const found = new Map<string, FieldType>()
  for (const { name, schema } of types ?? []) {
    if (!includesEvent(events, name)) continue
    const { properties = {} } = schema as Schema
    // The second schema describes erased records. No condition reads it.
    const [data = {}] = properties.data?.anyOf ?? []
    collect(data, 'data', found)
    for (const [field, of] of Object.entries(properties))
      if (!left_out.includes(field)) found.set(field, typeOf(of))
    collect(properties.actor ?? {}, 'actor', found)
  }
  // Its keys are fields, not the whole.
  found.delete('data.custom_fields')
  const with_events = all_kinds.flatMap(({ kind, events: own }) =>
    own.some((event) => includesEvent(events, event)) ? [kind as string] : [],
  )
  for (const definition of definitions.filter(({ resource }) => with_events.includes(resource))) {
    const field = `data.custom_fields.${definition.key}`
    const [type, known] = [definedType(definition), found.get(field)]
    // Two kinds of records may use one key.
    if (!known) found.set(field, type)
    else if (known.kind !== type.kind) found.set(field, { ...known, kind: 'text', choices: [] })
    else found.set(field, { ...known, choices: [...new Set([...known.choices, ...type.choices])] })
  }
  return found
}

const kinds_of_types: Partial<Record<Definition['type'], FieldType['kind']>> = {
  number: 'number',
  boolean: 'boolean',
  date: 'day',
}

const definedType = ({ type, options, label }: Definition): FieldType => ({
  kind: kinds_of_types[type] ?? 'text',
  choices: [...options],
  label,
})

function collect({ properties = {} }: Schema, path: string, found: Map<string, FieldType>): void {
  for (const [name, schema] of Object.entries(properties)) {
    if (schema.properties) collect(schema, `${path}.${name}`, found)
    else found.set(`${path}.${name}`, typeOf(schema))
  }
}

function typeOf(schema: Schema): FieldType {
  // A choice that may be null: the second schema is null.
  const { type = [], format, enum: choices = [] } = schema.anyOf?.[0] ?? schema
  return { kind: kindOf([type].flat(), format), choices }
}

function kindOf(types: string[], format: string | undefined): FieldType['kind'] {
  if (types.includes('number') || types.includes('integer')) return 'number'
  if (types.includes('boolean')) return 'boolean'
  if (types.includes('array')) return 'list'
  if (format === 'date-time') return 'time'
  return format === 'date' ? 'day' : 'text'
}

const of_order: Operator[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'not_in', 'exists', 'not_exists']
const operators_of: Record<FieldType['kind'], readonly Operator[]> = {
  text: ['eq', 'ne', 'in', 'not_in', 'contains', 'exists', 'not_exists'],
  number: of_order,
  boolean: ['eq', 'ne', 'exists', 'not_exists'],
  day: of_order,
  time: of_order,
  list: ['contains', 'exists', 'not_exists'],
}

/** The operators that a field can have; undefined for one that nobody described, which can have all. */
export const operatorsOf = (type: FieldType | undefined): readonly Operator[] | undefined =>
  type && operators_of[type.kind]

/** Whether a value of a condition fits another field. */
export const fitsBoth = (a: FieldType | undefined, b: FieldType | undefined): boolean =>
  (a?.kind ?? 'text') === (b?.kind ?? 'text')

export const emptyFor = (op: Condition['op']) => (op === 'exists' ? true : takesList(op) ? [] : '')
export const takesList = (op: Condition['op']) => op === 'in' || op === 'not_in'

/** The condition with another operator, and with its value as far as that fits. */
export function withOperator(condition: Condition, chosen: Operator): Condition {
  if (chosen === 'exists' || chosen === 'not_exists')
    return { ...condition, op: 'exists', value: chosen === 'exists' }
  const { op: before, value } = condition
  if (before === 'exists') return { ...condition, op: chosen, value: emptyFor(chosen) }
  if (takesList(before) === takesList(chosen)) return { ...condition, op: chosen }
  const values = [value].flat().flatMap((one) => (one === '' || one === null ? [] : one))
  return { ...condition, op: chosen, value: takesList(chosen) ? values : (values[0] ?? '') }
}
