// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Condition, failedCondition } from './conditions.ts'

const payload = {
  event: 'deal.updated',
  source: 'api',
  actor: { kind: 'key', id: 'key_1', name: null },
  changed_fields: ['value', 'email'],
  previous: { stage: 'demo', custom_fields: { 'a.b': 'x' } },
  data: {
    value: 12_500.5,
    name: 'Señalética 💡',
    stage: 'won',
    company_id: null,
    probability: 0,
    expected_close_date: '2026-12-24',
    closed_at: '2026-11-21T08:30:00.000Z',
    tags: ['vip', '10'],
    custom_fields: { limit: '100.50', 'my.key': 7, vip: true, phone: '0049', big: '12345678901234567890.1' },
  },
}
const meets = (field: string, op: Condition['op'], value: unknown) =>
  failedCondition(JSON.stringify([{ field, op, value }]), payload) === null

/** [field, operator, values that it meets, values that it does not meet] */
type Row = [string, Condition['op'], unknown[], unknown[]]
const rows: Row[] = [
  ['data.value', 'eq', [12_500.5, '12500.5', '12500.50'], [12_500, '12500.5 ', true, null, 'x']],
  ['data.value', 'gt', [12_500, '-1'], [12_500.5, 99_999, '2026-01-01']],
  ['data.value', 'gte', [12_500.5, 0], [12_500.6]],
  ['data.value', 'lt', [12_501], [12_500.5, '0']],
  ['data.value', 'lte', ['12500.5', 1e9], [1]],
  ['data.value', 'in', [[1, '12500.5']], [[1, 2], ['x']]],
  ['data.value', 'not_in', [[1, 2], ['x']], [[12_500.5]]],
  ['data.probability', 'eq', [0, '0', '0.0'], [false, null, '']],
  ['data.probability', 'exists', [true], [false]],
  ['data.stage', 'eq', ['won'], ['Won', 'lost', 1]],
  ['data.stage', 'ne', ['lost', 1, null, true], ['won']],
  ['data.stage', 'gt', [], ['a', 1, '2026-01-01']],
  ['data.name', 'contains', ['alét', '💡', ''], ['ALÉT', 5, true]],
  ['data.tags', 'contains', ['vip', '10', 10, '10.0'], ['vi', 'VIP', true]],
  ['data.tags', 'eq', [], ['vip', null]],
  ['changed_fields', 'contains', ['email'], ['mail', 'data']],
  ['actor.kind', 'ne', ['person'], ['key']],
  ['actor.name', 'eq', [null], ['', 'null']],
  ['previous.stage', 'eq', ['demo'], ['won']],
  ['previous.custom_fields.a.b', 'eq', ['x'], ['y']],
  ['data.custom_fields.my.key', 'eq', [7], [8]],
  ['data.custom_fields.vip', 'eq', [true], [false, 1, 'true']],
  ['data.custom_fields.limit', 'gte', [100.5, '100.5', '99'], ['100.51', 101]],
  ['data.custom_fields.phone', 'eq', ['0049'], [49, '49']],
  ['data.custom_fields.phone', 'gt', [], [1]],
  ['data.custom_fields.big', 'eq', ['12345678901234567890.10'], ['12345678901234567890.2']],
  ['data.custom_fields.big', 'lt', ['12345678901234567890.2'], ['12345678901234567890.1']],
  ['data.expected_close_date', 'eq', ['2026-12-24', '2026-12-24T00:00:00Z'], ['2026-12-25', '2026-02-30']],
  ['data.expected_close_date', 'lt', ['2026-12-25', '2026-12-24T00:00:01Z'], ['2026-12-24', '24.12.2026']],
  ['data.closed_at', 'eq', ['2026-11-21T09:30:00+01:00', '2026-11-21T08:30:00Z'], ['2026-11-21']],
  [
    'data.closed_at',
    'gte',
    ['2026-11-21', '2026-11-21T08:30:00.000Z'],
    ['2026-11-22', '2026-11-21T08:30:01Z'],
  ],
]
// Missing, null, or below a value that is not an object.
const missing = [
  'data.company_id',
  'data.none',
  'data.custom_fields.none',
  'previous.none',
  'data.stage.x',
  'data.tags.0',
]
for (const field of [...missing, 'data.constructor', 'data.__proto__', 'merged_into_id'])
  rows.push(
    [field, 'eq', [null], ['', 0, false, 'null']],
    [field, 'ne', ['x', 0, ''], [null]],
    [field, 'in', [], [['x', 0]]],
    [field, 'not_in', [['x', 0]], []],
    [field, 'exists', [false], [true]],
    [field, 'contains', [], ['', 'x']],
    ...(['gt', 'gte', 'lt', 'lte'] as const).map((op): Row => [field, op, [], [0, '2026-01-01']]),
  )

test('each operator is met by exactly the values that the table says', () => {
  for (const [field, op, met, not_met] of rows) {
    for (const value of met) assert.ok(meets(field, op, value), `${field} ${op} ${JSON.stringify(value)}`)
    for (const value of not_met)
      assert.ok(!meets(field, op, value), `not ${field} ${op} ${JSON.stringify(value)}`)
  }
})

test('a list has a value exactly when one of its values equals it', () => {
  const values = [
    0,
    '0',
    '-0',
    '0.0',
    1.5,
    '1.50',
    '-1.5',
    '12345678901234567890.10',
    '12345678901234567890.2',
  ]
  const others = [
    '2026-12-24',
    '2026-12-24T00:00:00Z',
    '2026-02-30',
    '007',
    'x',
    '',
    true,
    false,
    1e21,
    '1e21',
  ]
  const all = [...values, ...others]
  const isMet = (seen: unknown, op: Condition['op'], value: unknown) =>
    failedCondition(JSON.stringify([{ field: 'data.value', op, value }]), { data: { value: seen } }) === null
  for (const seen of [...all, 2 ** 64])
    for (const one of all) {
      const is_equal = isMet(seen, 'eq', one)
      const about = `${JSON.stringify(seen)} and ${JSON.stringify(one)}`
      assert.equal(isMet(seen, 'in', ['y', one]), is_equal, about)
      assert.equal(isMet(seen, 'not_in', ['y', one]), !is_equal, about)
    }
})

test('all conditions must hold, and the first that does not is returned with the value that it saw', () => {
  const [won, large, by_person] = [
    { field: 'data.stage', op: 'eq', value: 'won' },
    { field: 'data.value', op: 'gte', value: 20_000 },
    { field: 'actor.kind', op: 'eq', value: 'person' },
  ] as const
  const judge = (...conditions: object[]) => failedCondition(JSON.stringify(conditions), payload)
  assert.equal(judge(), null)
  assert.equal(judge(won), null)
  assert.deepEqual(judge(won, large, by_person), { condition: large, seen: 12_500.5 })
  assert.deepEqual(judge(by_person, large), { condition: by_person, seen: 'key' })
})
