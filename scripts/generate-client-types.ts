// biome-ignore-all lint/suspicious/noExplicitAny: a document is JSON of any shape
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTypes, type Node, objectType } from './openapi-types.ts'

// Writes web/src/api/schema.d.ts, the types of docs/openapi.json in the form that openapi-fetch reads.

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const document: Node = JSON.parse(readFileSync(file('../docs/openapi.json'), 'utf8'))

/** The path of a reference as a type: components["schemas"]["Contact"]. */
function referenceType(reference: string): string {
  const [, ...keys] = reference.replace('#/', '').split('/')
  return `components${keys.map((key) => `[${JSON.stringify(key)}]`).join('')}`
}

const typeOf = createTypes(referenceType)

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
