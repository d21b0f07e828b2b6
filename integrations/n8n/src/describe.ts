import { groupName, methodName, singular } from '../../../src/http/openapi/names.ts'
import type { Choice, Property } from './sdk.ts'

// The form of the node, from the OpenAPI document: a resource for each group of the client, and an operation for each of
// its methods.

// biome-ignore lint/suspicious/noExplicitAny: a part of a JSON document
export type Node = any

/** How an operation is called: the fields of its form, by the place that they have in the request. */
export type Operation = {
  method: string
  /** The values of the path, in their order. */
  path: string[]
  /** The required fields of the body. Null: the operation takes none. */
  body: string[] | null
  /** The required parameters of the query. Null: the operation takes none. */
  query: string[] | null
  /** The iterator over all pages. */
  each?: string
  /** The field by which an upsert finds a record. */
  match?: string
}
export type Described = {
  properties: Property[]
  operations: Record<string, Record<string, Operation>>
}

// Streams and files; many records in one body are items of n8n.
const left_out = /^(export|stream|batch)/

/** The resources, operations and fields of a document. */
export function describe(document: Node): Described {
  const { schemas, parameters } = document.components
  // The main kinds of records, and these.
  const tags = [...schemas.Found.properties.kind.enum, 'search', 'reports', 'events']
  const lastPart = (reference: string) => reference.split('/').at(-1) ?? ''
  const schemaOf = (schema: Node): Node => (schema?.$ref ? schemas[lastPart(schema.$ref)] : (schema ?? {}))
  const properties: Property[] = []
  const operations: Described['operations'] = {}
  const choices = new Map<string, Choice[]>()

  for (const item of Object.values<Node>(document.paths))
    for (const [verb, operation] of Object.entries<Node>(item)) {
      const [tag] = operation.tags
      if (verb === 'patch' || !tags.includes(tag)) continue
      const group = groupName(tag)
      const body = schemaOf(operation.requestBody?.content?.['application/json']?.schema)
      if (/^batch/.test(operation.operationId)) {
        const upsert = upsertOf(body)
        if (upsert) add(group, 'upsert', `Create or update ${withArticle(singular(tag))}`, upsert)
        continue
      }
      if (left_out.test(operation.operationId)) continue
      const name = methodName(operation.operationId, tag)
      const sent: Node[] = operation.parameters.map((one: Node) =>
        one.$ref ? parameters[lastPart(one.$ref)] : one,
      )
      const query = sent.filter((one) => one.in === 'query')
      const fields = fieldsOf(body)
      const pages = ['cursor', 'page'].some((paging) => query.some((one) => one.name === paging))
      const each = pages && name.startsWith('list') ? `each${singular(name.slice('list'.length))}` : undefined
      add(group, name, operation.summary, {
        in_path: sent.filter((one) => one.in === 'path'),
        fields,
        required: body.required ?? [],
        // The client's method takes no body that has no fields.
        has_body: fields.length > 0,
        query: query.filter((one) => !['page', 'per_page', 'cursor'].includes(one.name)),
        ...(each && { each }),
        if_match: sent.some((one) => one.name === 'If-Match'),
      })
    }

  function add(group: string, name: string, summary: string, form: Form): void {
    const action = summary
    choices.set(group, [...(choices.get(group) ?? []), { name: summary, value: name, action }])
    operations[group] = { ...operations[group], [name]: calledBy(name, form) }
    for (const property of formOf(form)) {
      const show = { resource: [group], operation: [name], ...property.displayOptions?.show }
      properties.push({ ...property, displayOptions: { show } })
    }
  }

  const resources = [...choices.keys()].map((value) => ({ name: titleOf(value), value }))
  const chooser = { noDataExpression: true, type: 'options' as const }
  return {
    operations,
    properties: [
      { displayName: 'Resource', name: 'resource', ...chooser, options: resources, default: 'contacts' },
      ...[...choices].map(
        ([group, options]): Property => ({
          displayName: 'Operation',
          name: 'operation',
          ...chooser,
          options,
          default: options.some(({ value }) => value === 'create') ? 'create' : (options[0]?.value ?? ''),
          displayOptions: { show: { resource: [group] } },
        }),
      ),
      ...properties,
    ],
  }
}

type Form = {
  in_path: Node[]
  fields: [string, Node][]
  required: string[]
  has_body: boolean
  query: Node[]
  each?: string
  match?: string
  if_match?: boolean
}

const calledBy = (name: string, { in_path, required, has_body, query, each, match }: Form): Operation => ({
  method: match ? 'batch' : name,
  path: in_path.map((one) => one.name),
  body: has_body ? required : null,
  // A batch has parameters of its own.
  query:
    query.length > 0 || each || match ? query.filter((one) => one.required).map((one) => one.name) : null,
  ...(each && { each }),
  ...(match && { match }),
})

/** The fields that a body may set. */
const fieldsOf = ({ properties = {} }: Node): [string, Node][] =>
  Object.entries<Node>(properties).filter(([, { readOnly }]) => !readOnly)

/** An upsert as an operation of its own: a batch of one item. Null if the records have no field to match. */
function upsertOf(batch: Node): Form | null {
  const { match, data } = batch.properties.items.items.properties
  const [field] = match.anyOf.flatMap((one: Node) => one.enum ?? [])
  if (!field) return null
  return { in_path: [], fields: fieldsOf(data), required: [field], has_body: true, query: [], match: field }
}

function formOf({ in_path, fields, required, query, each, if_match }: Form): Property[] {
  const named = new Map(fields)
  const more = fields.filter(([name]) => !required.includes(name))
  return [
    ...in_path.map((one) => ({ ...fieldOf(one.name, one.schema, one.description), required: true })),
    ...required.map((name) => ({ ...fieldOf(name, named.get(name) ?? {}), required: true })),
    ...(more.length
      ? [
          collection(
            'fields',
            'Additional Fields',
            more.map(([name, schema]) => fieldOf(name, schema)),
          ),
        ]
      : []),
    ...(each ? paging : []),
    ...(query.length
      ? [
          ...query
            .filter((one) => one.required)
            .map((one) => ({ ...fieldOf(one.name, one.schema, one.description), required: true })),
          collection('query', 'Filters and Options', query.filter((one) => !one.required).flatMap(filtersOf)),
        ]
      : []),
    ...(if_match ? [collection('options', 'Options', [unchanged])] : []),
  ]
}

const unchanged: Property = {
  displayName: 'If-Match',
  name: 'if_match',
  type: 'string',
  default: '',
  placeholder: 'e.g. {{ $json.etag }}',
  description:
    'The etag of the record as you read it. If it has changed since, the operation fails with 412.',
}

const paging: Property[] = [
  {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    default: false,
    description: 'Whether to return all results or only up to a given limit',
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    default: 50,
    typeOptions: { minValue: 1 },
    description: 'Max number of results to return',
    displayOptions: { show: { returnAll: [false] } },
  },
]

const collection = (name: string, displayName: string, options: Property[]): Property => ({
  displayName,
  name,
  type: 'collection',
  default: {},
  placeholder: 'Add Field',
  options,
})

/** The fields of a filter. Custom fields have three: values, and the two ends of a range. */
const filtersOf = (parameter: Node): Property[] =>
  parameter.name === 'custom_fields'
    ? [
        fieldOf('custom_fields', { type: 'object' }, parameter.description),
        ...['custom_fields_from', 'custom_fields_to'].map((name) =>
          fieldOf(name, { type: 'object' }, 'Of fields that are numbers or dates, such as {"seats": 10}'),
        ),
      ]
    : [filterOf(parameter)]

/** A filter is a text: several values with commas, `!` for "not", `null`. */
function filterOf({ name, schema, description }: Node): Property {
  if (schema.enum) return fieldOf(name, schema, description)
  return {
    displayName: titleOf(name),
    name,
    type: 'string',
    default: '',
    ...(description && { description }),
  }
}

function fieldOf(name: string, given: Node, about?: string): Property {
  const description = about ?? given.description
  // The second schema is null.
  const schema: Node = given.anyOf?.[0] ?? given
  const types = [schema.type].flat().filter((type: string) => type !== 'null')
  const shared = { displayName: titleOf(name), name, ...(description && { description }) }
  if (schema.enum) {
    const options = schema.enum.map((value: string) => ({ name: titleOf(String(value)), value }))
    return { ...shared, type: 'options', options, default: options[0]?.value ?? '' }
  }
  const [type] = types
  if (type === 'integer' || type === 'number')
    return {
      ...shared,
      type: 'number',
      default: 0,
      typeOptions: { numberPrecision: type === 'integer' ? 0 : 4 },
    }
  if (type === 'boolean') return { ...shared, type: 'boolean', default: false }
  if (type === 'array' && schema.items?.type === 'string')
    return { ...shared, type: 'string', typeOptions: { multipleValues: true }, default: [] }
  if (type === 'array' || type === 'object' || type === undefined)
    return { ...shared, type: 'json', default: type === 'array' ? '[]' : '{}' }
  const is_time = schema.format === 'date-time' || schema['x-time-or-day']
  const example = is_time ? '2026-12-31T08:30:00Z' : schema.examples?.[0]
  return { ...shared, type: 'string', default: '', ...(example && { placeholder: `e.g. ${example}` }) }
}

const capitals = new Set(['id', 'url'])
/** `first_name` becomes First Name. */
const titleOf = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .split(/[_-]/)
    .map((word) => (capitals.has(word) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(' ')

const withArticle = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
