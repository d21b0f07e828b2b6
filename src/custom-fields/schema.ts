import { type Static, Type } from 'typebox'
import { Body, Exact, flag, Id, ListQuery, Text, Timestamp, Titled } from '../http/fields.ts'
import { codesFilter } from '../http/filter-parameters.ts'
import type { Resource } from '../resources/resource.ts'
import { field_types } from './defined-values.ts'
import { hasDefinitions } from './definitions.ts'

/** For each resource of a workspace. A write reads all of them. */
export const max_definitions = 100
const max_position = 10_000

const Type_ = Type.Unsafe<(typeof field_types)[number]>({
  type: 'string',
  enum: field_types,
  description: 'It cannot change. `date` is YYYY-MM-DD; `url` starts with http:// or https://.',
  examples: ['number'],
})
const key = {
  description: 'The key in `custom_fields`. It cannot change.',
  examples: ['seats'],
}
const label = { description: 'The name that people see. By default the key.', examples: ['Seats'] }
const options = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  maxItems: 200,
  description: 'The texts that a `select` takes: 1 to 200, at most 16 KiB together. Other types have none.',
  examples: [[]],
})
// operations.ts refuses another value.
const fixed = Type.Unsafe<string>({ readOnly: true, description: 'It cannot change: another value is 422.' })
const required = Type.Boolean({
  description: 'A new record must have a value, and a change cannot remove it. Old records may lack it.',
  examples: [false],
})
const unique = Type.Boolean({
  description: 'No two records outside of the trash have the same value. E-mail addresses ignore case.',
  examples: [false],
})
const position = Type.Integer({
  minimum: 0,
  maximum: max_position,
  description: 'The place among the fields of the resource. By default the last one.',
  examples: [3],
})

/** The schemas of the definitions for these resources. */
export function definitionSchemas(resources: readonly Resource[]) {
  const tables = resources.filter(hasDefinitions).map(({ table }) => table)
  const resource = Type.Unsafe<string>({
    type: 'string',
    enum: tables,
    description: 'The records that have the field. It cannot change.',
    examples: ['contacts'],
  })
  const CustomField = Titled('CustomField', {
    id: Id(),
    resource,
    key: Type.String(key),
    label: Type.String(label),
    type: Type_,
    options,
    required,
    unique,
    position,
    created_at: Timestamp(),
    updated_at: Timestamp(),
  })
  const read_only = Object.keys(CustomField.properties)
  const plain = { label: Text(255, label), options, required, unique, position }
  const sent = { resource, key: Text(64, key), type: Type_, ...plain }
  return {
    CustomField,
    CustomFieldCreate: Body(sent, read_only, ['resource', 'key', 'type']),
    CustomFieldUpdate: Body({ ...plain, resource: fixed, key: fixed, type: fixed }, read_only),
    CustomFieldsQuery: ListQuery({ resource: codesFilter('resource', tables) }),
  }
}

type Schemas = ReturnType<typeof definitionSchemas>
export type CustomField = Static<Schemas['CustomField']>
export type CustomFieldBody = Static<Schemas['CustomFieldCreate']>
export type CustomFieldChange = Static<Schemas['CustomFieldUpdate']>

/** The parameter of a definition that existing values break. */
export const ForceQuery = Exact({
  force: flag('true: accept it although existing values break it. They stay until they change.'),
})
