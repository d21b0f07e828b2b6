// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldProblem } from '../../errors.ts'
import { contacts } from '../contacts/resource.ts'
import { defineResource } from '../resource.ts'
import { changedValues, customFieldsProblems, newValues, valueProblems } from './input.ts'

const current = { custom_fields: { region: 'EMEA', size: 3 }, tags: ['partner'] }
const wrong = (field: string): FieldProblem[] => [
  { field, code: 'invalid_type', message: `${field} is wrong.` },
]
const changes = (body: object, problems: FieldProblem[] = []) =>
  changedValues(contacts, body, current, problems)

test('custom fields are merged key by key, null removes; null clears all of them, and the tags', () => {
  const sent = { custom_fields: { size: null, partner: true }, tags: null }
  assert.deepEqual(changes(sent), { custom_fields: { region: 'EMEA', partner: true }, tags: [] })
  assert.deepEqual(changes({ custom_fields: null }), { custom_fields: {} })
  assert.deepEqual(changes({}), {})
})

test('every amount is kept exactly or refused, and -0 is 0', async () => {
  const items = defineResource({
    table: 'items' as 'deals',
    noun: 'item',
    columns: { price: { shown: { type: 'number' }, encoding: 'ten_thousandths' } },
    title: { fields: ['price'] },
    events: [],
  })
  const who = { workspace_id: 1, actor: { kind: 'key', id: null } } as const
  const problems = (price: number) =>
    valueProblems(null as never, who, items, { price }, { problems: [], before: null })
  assert.deepEqual(await problems(0.1234), [])
  assert.deepEqual(await problems(0.12345), [
    { field: 'price', code: 'too_precise', message: 'price must have at most 4 decimals.' },
  ])
  assert.ok(Object.is(newValues(items, { price: -0 }).price, 0))
  assert.deepEqual(changedValues(items, { price: -0 }, { price: 0 }), {})
})

test('custom fields that the schema refused are not merged: a text would become a key a character', () => {
  assert.deepEqual(changes({ custom_fields: 'text' }, wrong('custom_fields')), {})
  assert.deepEqual(newValues(contacts, { custom_fields: 'text' }, wrong('custom_fields')).custom_fields, {})
  assert.deepEqual(changes({ custom_fields: { deep: {} } }, wrong('custom_fields.deep')), {})
  const other = changes({ custom_fields: { size: 4 } }, wrong('custom_fields_of_mine'))
  assert.deepEqual(other, { custom_fields: { region: 'EMEA', size: 4 } })
})

test('custom fields of more than 64 KiB from an earlier version may become smaller in steps, not larger', () => {
  const long = (...lengths: number[]) =>
    Object.fromEntries(lengths.map((length, n) => [`k${n}`, 'é'.repeat(length)]))
  const codes = (stored: object, before?: object) =>
    customFieldsProblems(stored as never, before as never).map(({ field, code }) => [field, code])
  const too_large = [['custom_fields', 'too_large']]
  const before = long(40_000, 40_000)
  assert.deepEqual(codes(long(40_000), before), [])
  assert.deepEqual(codes(long(40_000, 39_999), before), [])
  assert.deepEqual(codes(long(40_000, 40_001), before), too_large)
  assert.deepEqual(codes(long(40_000), long(1)), too_large)
  assert.deepEqual(codes(long(40_000)), too_large)
})

test('two maps in order that have more than 100 keys together are too many', () => {
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
  assert.deepEqual(customFieldsProblems(keys(100)), [])
  assert.deepEqual(
    customFieldsProblems(keys(101)).map(({ field, code }) => [field, code]),
    [['custom_fields', 'too_many']],
  )
})
