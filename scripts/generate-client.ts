import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { groupName, methodName, pascal, singular } from '../src/http/openapi/names.ts'
import { createTypes, type Node, objectType } from './openapi-types.ts'

// Writes client/src/generated/: the types and the operations of docs/openapi.json, for the package @rapport/client.

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const document: Node = JSON.parse(readFileSync(file('../docs/openapi.json'), 'utf8'))
const { schemas, parameters } = document.components as Record<'schemas' | 'parameters', Record<string, Node>>

const lastPart = (reference: string) => reference.split('/').at(-1) ?? ''
const typeOf = createTypes(lastPart)
const schemaOf = (schema: Node = {}): Node => (schema.$ref ? (schemas[lastPart(schema.$ref)] ?? {}) : schema)

const comment = (text = '', indent = '') =>
  text && `${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim()} */\n`

/** A method returns the data of an answer, so answers and errors have no types. */
const isEnvelope = ({ properties }: Node) => properties?.success !== undefined

/** Without the fields that a body takes only so that an answer of GET can be sent back. */
function writable(schema: Node): Node {
  const fields = Object.entries<Node>(schema.properties ?? {}).filter(([, { readOnly }]) => !readOnly)
  return schema.properties ? { ...schema, properties: Object.fromEntries(fields) } : schema
}

/** The type of a record, with a comment on each field. */
function namedType([name, schema]: [string, Node]): string {
  const shown = writable(schema)
  const text = comment(schema.description)
  if (shown.type !== 'object' || !Object.keys(shown.properties ?? {}).length)
    return `${text}export type ${name} = ${typeOf(shown)}\n`
  const { required = [], additionalProperties } = shown
  const fields = Object.entries<Node>(shown.properties).map(
    ([field, one]) =>
      `${comment(one.description, '  ')}  ${field}${required.includes(field) ? '' : '?'}: ${typeOf(one)}\n`,
  )
  const others = additionalProperties ? '  [key: string]: unknown\n' : ''
  return `${text}export type ${name} = {\n${fields.join('')}${others}}\n`
}

/** The type of a parameter of a query, where everything is a text. */
function queryValue(schema: Node): string {
  if (schema['x-filter']) return 'Filter'
  if (String(schema.enum) === 'true,false') return `boolean | 'true' | 'false'`
  if (schema.type === 'object') return '{ [key: string]: Filter }'
  if (schema.format === 'date-time' || schema['x-time-or-day']) return 'string | Date'
  return schema.type === 'string' && !schema.enum ? 'string | number' : typeOf(schema)
}

const queryType = (name: string, query: Node[]) =>
  `export type ${name} = {\n${query
    .map(
      (one) =>
        `${comment(one.description, '  ')}  ${JSON.stringify(one.name)}${one.required ? '' : '?'}: ${queryValue(one.schema)}\n`,
    )
    .join('')}${query.some((one) => one.name === 'custom_fields') ? custom_ranges : ''}}\n`

// The document cannot describe a parameter whose name has a key and an end.
const custom_ranges = `  /** The range of a custom field that is a number or a date. */
  [range: \`custom_fields[\${string}]_\${'from' | 'to'}\`]: string | number | undefined
`

/** A verb whose body has no fields has no argument for it. */
function takesBody([media, { schema }]: [string, Node]): boolean {
  const { properties, additionalProperties, oneOf } = writable(schemaOf(schema))
  return (
    media !== 'application/json' || Boolean(oneOf || additionalProperties || Object.keys(properties).length)
  )
}

/** How a method reads its answer: the data, the data with its pagination, nothing, or the response itself. */
function answerOf(content: Node | undefined): [shape: string, type: string] {
  const json = content?.['application/json']
  if (!json) return ['response', 'Response']
  const { data, meta } = schemaOf(json.schema).properties ?? {}
  if (meta)
    return [
      'page',
      objectType([
        ['data', typeOf(data)],
        ['meta', typeOf(meta)],
      ]),
    ]
  return data ? ['data', typeOf(data)] : ['nothing', 'void']
}

type Method = { group: string; name: string; route: object; declaration: string }

const types_of_queries = new Map<string, string>()

/** An operation as a method of its group. A list has an iterator over its pages, too: each, eachNote. */
function methodsOf(path: string, method: string, operation: Node): Method[] {
  const { operationId, tags, responses } = operation
  const parameters_of = parametersOf(operation)
  const names = parameters_of('query').map(({ name }) => name)
  const [, { content }] = Object.entries<Node>(responses).find(([status]) => status.startsWith('2')) ?? [
    '',
    {},
  ]
  const [answer, result] = answerOf(content)
  const group = groupName(tags[0])
  const name = methodName(operationId, tags[0])
  const { in_path, body, query } = argumentsOf(operation)
  const route = {
    method: method.toUpperCase(),
    path,
    answer,
    ...(body && { body: body.media }),
    ...(query && { query: true }),
    ...(parameters_of('header').some((one) => one.name === 'Idempotency-Key') && { repeatable: true }),
  }
  const words = [...in_path, ...(body ? [body.declared] : []), ...(query ? [query] : []), 'options?: Options']
  const text = comment(`${operation.summary}. ${operation.description ?? ''}`, '  ')
  const own = {
    group,
    name,
    route,
    declaration: `${text}  ${name}(${words.join(', ')}): Promise<${result}>\n`,
  }
  const by = ['cursor', 'page'].find((one) => names.includes(one))
  if (!query || !by || answer !== 'page' || !name.startsWith('list')) return [own]

  const each = `each${singular(name.slice(4))}`
  const item = typeOf(schemaOf(content['application/json'].schema).properties.data.items)
  const arguments_of_each = [...in_path, query.replace(/: (\w+)$/, ": Omit<$1, 'page'>"), 'options?: Options']
  const about = comment(`The records of all pages of ${name}, one by one.`, '  ')
  const iterator = {
    group,
    name: each,
    route: { ...route, each: by, ...(names.includes('per_page') && { per_page: true }) },
    declaration: `${about}  ${each}(${arguments_of_each.join(', ')}): AsyncIterable<${item}>\n`,
  }
  return [own, iterator]
}

function parametersOf(operation: Node) {
  const all: Node[] = operation.parameters.map((one: Node) =>
    one.$ref ? parameters[lastPart(one.$ref)] : one,
  )
  return (place: string) => all.filter((one) => one.in === place)
}

/** The arguments of a method: the parts of its path, its body, its query. */
function argumentsOf(operation: Node) {
  const { operationId, requestBody } = operation
  const parameters_of = parametersOf(operation)
  const query = parameters_of('query')
  const query_name = `${pascal(operationId)}Query`
  if (query.length) types_of_queries.set(query_name, queryType(query_name, query))
  const [media, content] = Object.entries<Node>(requestBody?.content ?? {}).find(takesBody) ?? []
  const optional = (is_required: boolean) => (is_required ? '' : '?')
  const body_type = media === 'application/json' ? typeOf(content?.schema) : 'RawBody'
  return {
    in_path: parameters_of('path').map((one) => `${one.name}: ${typeOf(one.schema)}`),
    body: media && { media, declared: `body${optional(requestBody.required)}: ${body_type}` },
    query: query.length ? `query${optional(query.some(({ required }) => required))}: ${query_name}` : '',
  }
}

const needsSession = ({ security = [] }: Node) =>
  security.length > 0 && security.every((one: object) => 'session' in one)

const methods = Object.entries<Node>(document.paths).flatMap(([path, item]) =>
  // PATCH is the alias of PUT. A client has a key, so it has no method that needs a session.
  Object.entries<Node>(item).flatMap(([method, operation]) =>
    method === 'patch' || needsSession(operation) ? [] : methodsOf(path, method, operation),
  ),
)

const groups = new Map<string, Map<string, Method>>()
for (const method of methods) {
  const group = groups.get(method.group) ?? new Map<string, Method>()
  groups.set(method.group, group)
  if (group.has(method.name))
    throw new TypeError(
      `client.${method.group}.${method.name} exists twice. Give one of the operations an \`id\` in its declaration.`,
    )
  group.set(method.name, method)
}

const note = '// Generated from docs/openapi.json by scripts/generate-client.ts: do not edit.\n'
const types = new Map(
  Object.entries(schemas)
    .filter(([, schema]) => !isEnvelope(schema))
    .map(([name, schema]) => [name, namedType([name, schema])]),
)
const declarations = [...groups].map(
  ([name, group]) =>
    `  ${name}: {\n${[...group.values()].map(({ declaration }) => declaration).join('')}  }\n`,
)
const routes = Object.fromEntries(
  [...groups].map(([name, group]) => [
    name,
    Object.fromEntries([...group].map(([method, { route }]) => [method, route])),
  ]),
)

const signatures = methods.map(({ declaration }) => declaration.replaceAll(/\/\*\*.*?\*\//gs, '')).join('')
const used = (names: string[]) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(signatures)).sort()
const queries = [...types_of_queries.keys()]

/** The types that methods, queries and events name, and those that these types name. */
function neededTypes(): string[] {
  const needed = new Set<string>()
  function add(text: string): void {
    for (const [name] of text.matchAll(/\b[A-Z]\w*\b/g)) {
      const type = types.get(name)
      if (type === undefined || needed.has(name)) continue
      needed.add(name)
      add(type)
    }
  }
  add(['Event', signatures, ...types_of_queries.values()].join('\n'))
  return [...types].filter(([name]) => needed.has(name)).map(([, type]) => type)
}

const folder = file('../client/src/generated')
mkdirSync(folder, { recursive: true })

// In one step: another process may compile the files at the same time.
function write(name: string, text: string): void {
  const draft = `${folder}/${name}.${process.pid}`
  writeFileSync(draft, text)
  renameSync(draft, `${folder}/${name}`)
}

write(
  'types.ts',
  `${note}import type { Filter } from '../encode.ts'\n${[...neededTypes(), ...types_of_queries.values()].join('')}`,
)
write(
  'operations.ts',
  `${note}import type { ${['Route', ...used(['Options', 'RawBody'])].join(', ')} } from '../request.ts'
import type { ${used([...Object.keys(schemas), ...queries]).join(', ')} } from './types.ts'

/** The operations of the API, by the first part of their path. */
export interface Operations {\n${declarations.join('')}}

export const routes: Record<string, Record<string, Route>> = ${JSON.stringify(routes, null, 1)}\n`,
)
