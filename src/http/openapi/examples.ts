import type { Described } from './operations.ts'
import { isObjectSchema, type Schema } from './schemas.ts'

// Example values of texts without an example of their own, by their format.
const texts: Record<string, string> = {
  'date-time': '2026-11-21T08:30:00.000Z',
  date: '2026-11-21',
  email: 'ana.ruiz@acme.example',
  uri: 'https://acme.example',
}

// Examples of files, by their media type.
const files: Record<string, string> = {
  'text/csv': 'id,first_name,last_name\n42,Ana,Ruiz\n',
  'application/x-ndjson': '{"id":42,"first_name":"Ana","last_name":"Ruiz"}\n',
}

/** An example value: the schema's own, or one that is made of those of its parts. `resolve` finds the schema of a name. */
export function exampleOf(schema: Schema, resolve: (name: string) => Schema): unknown {
  const { examples, items } = schema
  if (typeof schema.$ref === 'string') return exampleOf(resolve(schema.$ref.split('/').at(-1) ?? ''), resolve)
  if (Array.isArray(examples) && examples.length) return examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const [part] = [schema.oneOf ?? schema.anyOf ?? []].flat() as Schema[]
  if (part) return exampleOf(part, resolve)
  const types = [schema.type ?? []].flat()
  if (isObjectSchema(schema) && types.includes('object'))
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, one]) => [name, exampleOf(one, resolve)]),
    )
  if (types.includes('null')) return null
  if (types.includes('array')) return items ? [exampleOf(items as Schema, resolve)] : []
  if (types.includes('string')) return texts[String(schema.format)] ?? 'text'
  if (types.includes('boolean')) return true
  if (types.includes('integer') || types.includes('number')) return Math.max(Number(schema.minimum ?? 1), 1)
  return {}
}

type Json = Record<string, unknown>

/** Adds an example to each answer that is a success and has none. */
export function addExamples(operations: readonly Described[], schemas: Record<string, unknown>): void {
  const resolve = (name: string) => schemas[name] as Schema
  for (const { responses, parameters = [] } of operations) {
    const takes = (name: string) => parameters.some((one) => '$ref' in one && one.$ref.endsWith(`/${name}`))
    for (const [status, { content = {} }] of Object.entries(responses))
      for (const [type, media] of status.startsWith('2') ? Object.entries(content) : []) {
        media.example ??= files[type] ?? exampleOf(media.schema ?? {}, resolve)
        // A list without numbered pages.
        if (takes('cursor') && !takes('page')) {
          const { current_page, last_page, total, ...meta } = (media.example as { meta: Json }).meta
          ;(media.example as Json).meta = { ...meta, per_page: 25, next_cursor: null }
        }
      }
  }
}
