// runs: once
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Ajv, type ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { operationsOf } from '../../test/operations.ts'
import { runs } from '../../test/quick.ts'
import { type Schema, schemaProblems } from './schema-problems.ts'

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
const bodies = new Map(
  operationsOf(document).flatMap(({ name, body }) => (body ? [[name, body as Schema] as const] : [])),
)

const every_error = addFormats.default(new Ajv({ allErrors: true, strict: false, strictNumbers: true }))

/** The field that an error of Ajv is about, as our problems name it. */
function fieldOf({ instancePath, keyword, params, propertyName }: ErrorObject): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') path.push(params.missingProperty)
  if (keyword === 'additionalProperties') path.push(params.additionalProperty)
  if (propertyName !== undefined) path.push(propertyName)
  return path.join('.') || 'body'
}

const leaves = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    '',
    'a@b.example',
    '2026-11-22',
    '2026-11-22T10:00:00.000Z',
    'contact.created',
    'x'.repeat(300),
  ),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
)
const names = fc.constantFrom(
  'a',
  'region',
  'monday',
  'from',
  'to',
  '2026-12-24',
  'constructor',
  '',
  'k'.repeat(70),
)
const values = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaves, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
})).value

describe('the problems of a body', () => {
  for (const [name, schema] of bodies) {
    // Only texts that do not exceed what an answer shows of a name are compared.
    const fields = fc.constantFrom(...Object.keys(schema.properties ?? {}), 'unknown', 'toString')
    test(`${name}: every field that Ajv finds wrong is listed, and no other`, () => {
      const check = every_error.compile(schema)
      fc.assert(
        fc.property(fc.dictionary(fields, values, { maxKeys: 8 }), (body) => {
          const found = new Set(schemaProblems(schema, structuredClone(body)).map(({ field }) => field))
          check(body)
          const errors = (check.errors ?? []).filter(({ keyword }) => keyword !== 'propertyNames')
          assert.deepEqual([...found].sort(), [...new Set(errors.map(fieldOf))].sort())
        }),
        { numRuns: runs(60) },
      )
    })
  }

  test('validation stops at 1000 problems, and lengths come before members', () => {
    const list = { type: 'array', maxItems: 5, items: { type: 'string' } }
    const many = (count: number) => Array.from({ length: count }, () => ({}))
    assert.equal(schemaProblems({ type: 'array', items: { type: 'string' } }, many(40_000)).length, 1000)
    assert.deepEqual(
      schemaProblems(list, many(40_000)).map(({ code }) => code),
      ['too_many'],
    )
    assert.deepEqual(
      schemaProblems(list, many(6)).map(({ code }) => code),
      ['too_many', ...Array(6).fill('invalid_type')],
    )
    const object = { type: 'object', maxProperties: 5, additionalProperties: { type: 'string' } }
    const members = Object.fromEntries(many(20_000).map((value, n) => [`k${n}`, value]))
    assert.deepEqual(
      schemaProblems(object, members).map(({ code }) => code),
      ['too_many'],
    )
  })
})
