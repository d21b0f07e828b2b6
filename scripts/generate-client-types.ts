// biome-ignore-all lint/suspicious/noExplicitAny: a document is JSON of any shape
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Writes web/src/api/schema.d.ts, the types of docs/openapi.json in the form that openapi-fetch reads. It knows the JSON Schema
// of that document only, and throws at anything else.

type Node = Record<string, any>

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const document: Node = JSON.parse(readFileSync(file('../docs/openapi.json'), 'utf8'))

/** An object type, a property a line. A key that ends with a question mark is optional. */
function objectType(entries: (readonly [string, string])[]): string {
  const lines = entries.map(([key, type]) =>
    key.endsWith('?') ? `${JSON.stringify(key.slice(0, -1))}?: ${type}` : `${JSON.stringify(key)}: ${type}`,
  )
  return `{\n${lines.join('\n')}\n}`
}

/** The path of a reference as a type: components["schemas"]["Contact"]. */
function referenceType(reference: string): string {
  const [, ...keys] = reference.replace('#/', '').split('/')
  return `components${keys.map((key) => `[${JSON.stringify(key)}]`).join('')}`
}

function typeOf(schema: Node): string {
  if (schema.$ref) return referenceType(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value: unknown) => JSON.stringify(value)).join(' | ')
  if (schema.type === undefined) {
    if (schema.anyOf || schema.oneOf || schema.allOf)
      throw new Error('A union of schemas has no type here yet.')
    return 'unknown'
  }
  return [schema.type]
    .flat()
    .map((type: string) => typeOfKind(type, schema))
    .join(' | ')
}

function typeOfKind(type: string, schema: Node): string {
  if (type === 'integer') return 'number'
  if (type === 'array') return `(${typeOf(schema.items ?? {})})[]`
  if (type === 'object') return recordType(schema)
  if (['string', 'number', 'boolean', 'null'].includes(type)) return type
  throw new Error(`The type ${type} is not known.`)
}

function recordType({ properties = {}, required = [], additionalProperties: others }: Node): string {
  const known = Object.entries<Node>(properties).map(([name, schema]) => {
    const is_required = required.includes(name) || 'default' in schema
    return [is_required ? name : `${name}?`, typeOf(schema)] as const
  })
  const more = others ? `{ [key: string]: ${others === true ? 'unknown' : typeOf(others)} }` : ''
  if (known.length === 0) return more || 'Record<string, never>'
  return more ? `(${objectType(known)} & ${more})` : objectType(known)
}

const contentType = (content: Node = {}) =>
  objectType(Object.entries<Node>(content).map(([media, { schema }]) => [media, typeOf(schema ?? {})]))

const responseType = ({ $ref, content }: Node) =>
  $ref ? referenceType($ref) : content ? `{ content: ${contentType(content)} }` : '{ content?: never }'

function parametersType(parameters: Node[]): string {
  const all = parameters.map(({ $ref, ...given }) =>
    $ref ? document.components.parameters[$ref.split('/').at(-1)] : given,
  )
  return objectType(
    ['query', 'header', 'path', 'cookie'].map((place) => {
      const here = all.filter((one) => one.in === place)
      const is_required = here.some((one) => one.required)
      const types = here.map((one) => [one.required ? one.name : `${one.name}?`, typeOf(one.schema)] as const)
      return [is_required ? place : `${place}?`, here.length ? objectType(types) : 'never']
    }),
  )
}

function operationType({ parameters = [], requestBody: body, responses }: Node): string {
  return objectType([
    ['parameters', parametersType(parameters)],
    body?.required
      ? ['requestBody', `{ content: ${contentType(body.content)} }`]
      : ['requestBody?', body ? `{ content: ${contentType(body.content)} }` : 'never'],
    [
      'responses',
      `{\n${Object.entries<Node>(responses)
        .map(([status, one]) => `${status}: ${responseType(one)}`)
        .join('\n')}\n}`,
    ],
  ])
}

const methods = ['get', 'put', 'post', 'patch', 'delete']
const paths = Object.entries<Node>(document.paths).map(([path, item]) => {
  const operations = methods.filter((method) => item[method])
  return [path, objectType(operations.map((method) => [method, operationType(item[method])]))] as const
})
const { schemas, responses } = document.components
const components = objectType([
  ['schemas', objectType(Object.entries<Node>(schemas).map(([name, one]) => [name, typeOf(one)]))],
  ['responses', objectType(Object.entries<Node>(responses).map(([name, one]) => [name, responseType(one)]))],
])
writeFileSync(
  file('../web/src/api/schema.d.ts'),
  `// Generated from docs/openapi.json by npm run types: do not edit.\nexport interface paths ${objectType(paths)}\nexport interface components ${components}\n`,
)
