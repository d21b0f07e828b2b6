// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sameText } from '../db/lists/same-text.ts'
import { field_types, sortNumber, sortValue, uniqueValue } from './defined-values.ts'
import { type Definition, definitionProblems, reasonAgainst } from './definition-rules.ts'

const options = ['EMEA', 'APAC', '', 'ä'] as const
const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 5e-324, -5e-324, Number.MAX_VALUE, Number.MIN_SAFE_INTEGER),
)
const text = fc.string({ unit: 'binary', maxLength: 200 })

/** Values that each type accepts. */
const right: Record<(typeof field_types)[number], fc.Arbitrary<string | number | boolean>> = {
  text,
  number,
  boolean: fc.boolean(),
  date: day,
  select: fc.constantFrom(...options),
  url: fc.webUrl(),
  email: fc.emailAddress(),
}
const any = fc.oneof(
  ...Object.values(right),
  fc.constantFrom('2026-02-30', '26-01-01', 'http://', 'a@', 'true', '5'),
)
const definition = fc.record<Definition>({
  id: fc.integer({ min: 1 }),
  key: fc.string({ minLength: 1, maxLength: 64 }),
  type: fc.constantFrom(...field_types),
  options: fc.constant(options),
  is_required: fc.boolean(),
  is_unique: fc.boolean(),
})

test('each type accepts its values, and every other type of JSON value is refused', () => {
  for (const type of field_types)
    fc.assert(
      fc.property(right[type], any, (value, other) => {
        assert.equal(reasonAgainst({ type, options }, value), null)
        const reason = reasonAgainst({ type, options }, other)
        if (typeof other !== typeof value) assert.equal(reason?.code, 'invalid_type')
        if (reason) assert.match(reason.accepts, /^must be /)
      }),
    )
})

test('a value that a write does not change is never judged, and a new or changed one always is', () => {
  const fields = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), any)
  fc.assert(
    fc.property(definition, fields, fields, (one, before, after) => {
      for (const key of ['a', 'toString', '__proto__']) {
        const judged = { ...one, key }
        assert.deepEqual(definitionProblems([judged], before, before), [])
        const problems = definitionProblems([judged], after, before)
        const [old, value] = [before, after].map((fields) =>
          Object.hasOwn(fields, key) ? fields[key] : undefined,
        )
        if (Object.is(old, value)) continue
        const missing = value === undefined || (typeof value === 'string' && !value.trim())
        const wrong = (missing && one.is_required) || (value !== undefined && reasonAgainst(judged, value))
        assert.equal(problems.length, wrong ? 1 : 0)
        for (const { field, message } of problems) assert.ok(message.startsWith(`${field} `))
      }
    }),
  )
})

test('numbers and days sort as they are, byte by byte', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [one, two] = [sortNumber(a), sortNumber(b)]
      assert.match(one, /^[0-9a-f]{16}$/)
      assert.equal(one < two, a < b)
      assert.equal(one === two, a === b)
    }),
  )
  fc.assert(fc.property(day, (value) => assert.equal(sortValue('date', value), value)))
})

test('stored values are bounded, and unique ones differ exactly when the texts are not the same', () => {
  const equal = (one: string, other: string) => sameText(one) === sameText(other)
  fc.assert(
    fc.property(fc.string({ maxLength: 4096 }), fc.string({ maxLength: 4096 }), (a, b) => {
      assert.ok((sortValue('text', a)?.length ?? 0) <= 400)
      assert.ok(uniqueValue('text', a).length <= 100)
      assert.equal(uniqueValue('text', a) === uniqueValue('text', b), equal(a, b))
      const long = 'x'.repeat(300)
      assert.equal(uniqueValue('text', long + a) === uniqueValue('text', long + b), equal(long + a, long + b))
    }),
  )
})
