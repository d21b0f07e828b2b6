// biome-ignore-all lint/suspicious/noExplicitAny: a schema of the document is JSON of any shape
import assert from 'node:assert/strict'
import { bodyOf, type Resource } from '../src/resources/resource.ts'
import type { Rapport } from './harness.ts'

type Schema = any
export type Parameter = { name: string; in: string; required?: boolean; schema: Schema }

/** An operation of the OpenAPI document, with every reference of its request resolved. */
export type Operation = {
  /** As the lists of tests name it: post /contacts/{id}/notes. */
  name: string
  method: string
  /** With its prefix: /api/v1/contacts/{id}/notes. */
  path: string
  /** The callers who may use it: anybody, a signed-in person alone, or a key with the scope too. */
  caller: 'anyone' | 'person' | 'key'
  scope: string | null
  /** Any of these scopes is enough, too. */
  or_scopes: string[]
  path_parameters: Parameter[]
  query: Parameter[]
  /** The schema of its body; null when it takes none. */
  body: Schema | null
  /** Takes a file of rows as its body. */
  takes_file: boolean
  /** The operation as the document has it. */
  described: any
}

const base = '/api/v1'

/** Reads the OpenAPI document of a running service: every operation in its order. */
export async function readOperations({ call }: Pick<Rapport, 'call'>): Promise<Operation[]> {
  const { status, body } = await call('GET', `${base}/openapi.json`)
  assert.equal(status, 200)
  return operationsOf(body)
}

export function operationsOf(document: any): Operation[] {
  const resolved = (node: any): any => {
    if (Array.isArray(node)) return node.map(resolved)
    if (typeof node !== 'object' || node === null) return node
    if (typeof node.$ref === 'string') {
      const parts = node.$ref.slice(2).split('/')
      return resolved(parts.reduce((at: any, part: string) => at[part], document))
    }
    return Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, resolved(inner)]))
  }
  const read = (path: string, method: string, described: any): Operation => {
    const parameters: Parameter[] = resolved(described.parameters ?? [])
    const { security } = described
    return {
      name: `${method} ${path.replace(base, '') || '/'}`,
      method: method.toUpperCase(),
      path,
      caller: !security ? 'key' : security.length ? 'person' : 'anyone',
      scope: described['x-scope'] ?? null,
      or_scopes: described['x-or-scopes'] ?? [],
      path_parameters: parameters.filter((one) => one.in === 'path'),
      query: parameters.filter((one) => one.in === 'query'),
      body: resolved(described.requestBody?.content['application/json']?.schema ?? null),
      takes_file: !!described.requestBody?.content['text/csv'],
      described,
    }
  }
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => read(path, method, described)),
  )
}

/** Whether a field or a parameter names another record: contact_id, webhook_id and so on. */
export const isReference = (name: string): boolean => /^[a-z_]+_id$/.test(name)

const example_time = '2030-01-08T12:00:00.000Z'

/**
 * A value that a schema accepts: its example, its default or its first choice, else one built from its type. Throws for
 * other schemas: they need an example in the document, or a value in valid-requests.ts.
 */
export function valueFor(name: string, schema: Schema): unknown {
  const { examples, default: fallback, enum: choices, format, minimum, maxLength = 100 } = schema
  if (examples?.length) return examples[0]
  if (fallback !== undefined) return fallback
  if (schema.const !== undefined) return schema.const
  if (choices) return choices[0]
  if (schema.anyOf) return valueFor(name, schema.anyOf[0])
  const [type] = [schema.type].flat()
  switch (type) {
    case 'string':
      if (format === 'date-time' || schema['x-time-or-day']) return example_time
      if (format === 'date') return example_time.slice(0, 10)
      if (format === 'idn-email') return 'grace.hopper@acme.example'
      if (schema.pattern === undefined && format === undefined) return `A ${name}`.slice(0, maxLength)
      break
    case 'integer':
    case 'number':
      return minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return [valueFor(name, schema.items)]
    case 'object':
      return bodyFor(schema, () => undefined)
  }
  throw new Error(`No value can be made for ${name}: ${JSON.stringify(schema)}`)
}

/** The smallest body that makes a record of a resource without rules of its own: the fields that it requires. */
export function smallestBody({ columns }: Pick<Resource, 'columns'>): Record<string, unknown> {
  const { properties, required } = bodyOf(columns, 'create') as Schema
  return Object.fromEntries(required.map((name: string) => [name, valueFor(name, properties[name])]))
}

/** A body with every writable field of the schema. `known` has values that no schema can say; undefined: none. */
export function bodyFor(schema: Schema, known: (name: string) => unknown): Record<string, unknown> {
  const fields = Object.entries<Schema>(schema.properties ?? {}).filter(([, { readOnly }]) => !readOnly)
  return Object.fromEntries(fields.map(([name, one]) => [name, known(name) ?? valueFor(name, one)]))
}
