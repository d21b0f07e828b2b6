// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readWanted } from '../../src/http/filter-values.ts'
import { isRelative } from '../../src/http/relative-days.ts'
import { conditionOf, draftOf, filter_ops, opOf, opsOf, withOp } from '../../web/src/ui/filter-draft.ts'
import {
  type Condition,
  changeOf,
  conditionsOf,
  customKeys,
  customName,
  type FilterField,
  filtersIn,
  parametersOf,
  readParts,
  withoutOldForm,
  writeParts,
} from '../../web/src/ui/filter-value.ts'
import { readRelative, relativeForms, writeRelative } from '../../web/src/ui/relative-days.ts'

const stage: FilterField = { name: 'stage', nullable: true }
const value: FilterField = {
  name: 'value',
  kind: 'number',
  nullable: true,
  ends: [['value_from', 'value_to']],
}
const due: FilterField = {
  name: 'due_at',
  kind: 'time',
  nullable: true,
  ends: [
    ['due_from', 'due_to'],
    ['due_at_from', 'due_at_to'],
  ],
}

const naughty = fc.string({ unit: fc.constantFrom('a', 'Ä', ' ', ',', '!', '\\', 'null', '=', '&', '💥') })
const text = naughty.map((one) => one.trim()).filter((one) => one !== '')
const plain = { noNullPrototype: true }
const part = fc.record({ not: fc.boolean(), value: fc.option(text) }, plain)
const parts = fc.array(part, { minLength: 1, maxLength: 6 })
const number = fc.integer({ min: -1e9, max: 1e9 }).map((one) => String(one / 100))
const range = fc
  .record({ from: fc.option(number), to: fc.option(number) }, plain)
  .filter(({ from, to }) => from !== null || to !== null)

test('parameters of filters are read as what they say, and written as they were', () => {
  for (const [written, op, values] of [
    ['lead', 'is', ['lead']],
    ['lead,won', 'is', ['lead', 'won']],
    ['lead,null', 'is', ['lead', null]],
    ['!lost', 'not', ['lost']],
    ['!lost,!won', 'not', ['lost', 'won']],
    ['!lost,!null', 'not', ['lost', null]],
    ['null', 'empty', []],
    ['!null', 'filled', []],
    ['Ruiz\\, Ana,\\!urgent', 'is', ['Ruiz, Ana', '!urgent']],
    ['!\\!urgent', 'not', ['!urgent']],
    ['vip,!old', 'is', ['vip']],
    ['\\null', 'is', ['null']],
    ['!\\null,!null', 'not', ['null', null]],
    ['\\\\null', 'is', ['\\null']],
  ] as const) {
    const [condition] = conditionsOf(stage, { stage: written })
    assert.ok(condition, written)
    assert.equal(opOf(condition, stage), op, written)
    const draft = draftOf(stage, condition)
    assert.deepEqual(draft.values, values, written)
    assert.deepEqual(conditionOf(draft), condition, written)
    assert.deepEqual(parametersOf(stage, condition), { stage: written })
  }
})

test('any parameter of a filter is the same after it was a chip', () => {
  fc.assert(
    fc.property(parts, (parts) => {
      const written = writeParts(parts)
      const [condition] = conditionsOf(stage, { stage: written })
      assert.deepEqual(condition, { parts })
      assert.deepEqual(parametersOf(stage, condition as Condition), { stage: written })
    }),
  )
  fc.assert(
    fc.property(range, (range) => {
      const address = parametersOf(value, range)
      assert.deepEqual(conditionsOf(value, address), [range])
      assert.deepEqual(filtersIn([value], address), address)
      assert.deepEqual(conditionOf(draftOf(value, range)), range)
    }),
  )
})

test('the API reads the same values as the web app, however they are written', () => {
  const asked = { name: 'stage', kind: 'text', nullable: true } as const
  const wanted = (written: string) => {
    const read = readWanted(asked, written)
    return read && 'any' in read ? read : null
  }
  fc.assert(
    fc.property(parts, (parts) => {
      const is = (not: boolean) =>
        parts.flatMap((one) => (one.not === not && one.value !== null ? [one.value] : []))
      const none = (not: boolean) => parts.some((one) => one.not === not && one.value === null)
      assert.deepEqual(wanted(writeParts(parts)), {
        any: is(false),
        or_none: none(false),
        not: is(true),
        some: none(true),
      })
    }),
  )
  fc.assert(
    fc.property(naughty, (written) => {
      const read = wanted(written)
      if (read) assert.deepEqual(wanted(writeParts(readParts(written))), read)
    }),
  )
})

test('each operator of the editor keeps the values of the others', () => {
  fc.assert(
    fc.property(parts, fc.array(fc.constantFrom(...filter_ops)), (parts, ops) => {
      const draft = draftOf(stage, { parts })
      const back = withOp(ops.reduce(withOp, draft), draft.op)
      if (ops.includes('not')) assert.deepEqual(back.values, withOp(draft, 'not').values)
      else assert.deepEqual(back, draft)
    }),
  )
  assert.deepEqual(conditionOf({ ...draftOf(value, null), op: 'is' }), null)
  assert.deepEqual(opsOf(value), ['between', 'from', 'to', 'is', 'not', 'empty', 'filled'])
  assert.deepEqual(opsOf(due), ['between', 'from', 'to', 'empty', 'filled'])
  assert.deepEqual(opsOf({ ...stage, single: true }), ['is'])
})

test('a word such as this_month is a condition of a date, with or without a number of days', () => {
  const date: FilterField = { ...due, relative: 'due' }
  for (const word of ['overdue', 'this_month', 'next_14_days', 'more_than_30_days_ago']) {
    const [condition = null] = conditionsOf(date, { due_at: word })
    const draft = draftOf(date, condition)
    assert.deepEqual([draft.op, draft.word, conditionOf(draft)], ['relative', word, condition])
    const { form, days } = readRelative(word) ?? { form: '', days: null }
    assert.equal(writeRelative(form, days), word)
    assert.deepEqual(conditionsOf(due, { due_at: word }), [])
  }
  for (const text of ['this_moth', 'next_N_days', 'next_14_weeks', 'next_99999_days'])
    assert.deepEqual(conditionsOf(date, { due_at: text }), [], text)
  assert.deepEqual(opsOf(date), ['between', 'from', 'to', 'relative', 'empty', 'filled'])
  assert.equal(draftOf(stage, { parts: [{ not: false, value: 'today' }] }).op, 'is')
  // The API reads every word that the app offers.
  for (const form of relativeForms('due')) assert.ok(isRelative(writeRelative(form, 7)), form)
})

test('long and short names of a range are one filter, which replaces both', () => {
  const address = { due_at_from: '2026-12-01', due_to: '2026-12-05', page: '2' }
  const [condition = null] = conditionsOf(due, address)
  assert.deepEqual(condition, { from: '2026-12-01', to: '2026-12-05' })
  assert.deepEqual(filtersIn([due, value], address), { due_from: '2026-12-01', due_to: '2026-12-05' })
  const after = { parts: [{ not: false, value: null }] }
  assert.deepEqual(changeOf(due, condition, after), {
    due_from: null,
    due_to: null,
    due_at_from: null,
    due_at_to: null,
    due_at: 'null',
  })
  assert.deepEqual(changeOf(due, condition, null), {
    due_from: null,
    due_to: null,
    due_at_from: null,
    due_at_to: null,
  })
})

test('a value that cannot be read is no filter', () => {
  for (const [field, name, written] of [
    [stage, 'stage', ''],
    [stage, 'stage', ' , !'],
    [value, 'value', 'much'],
    [value, 'value_from', '1e5'],
    [value, 'value_to', 'NaN'],
    [due, 'due_from', '2026-02-31'],
    [due, 'due_to', 'tomorrow'],
    [{ name: 'company_id', kind: 'reference' }, 'company_id', '3,x'],
    [{ name: 'company_id', kind: 'reference', single: true }, 'company_id', '3,4'],
  ] as [FilterField, string, string][])
    assert.deepEqual(filtersIn([field], { [name]: written }), {}, `${name}=${written}`)
})

test('a key of a custom field may have 64 characters of four bytes, in the new form and the old one', () => {
  for (const key of ['🚚'.repeat(64), 'k'.repeat(64), 'tour 🚚']) {
    const name = customName(key)
    assert.deepEqual(customKeys({ [name]: 'x', [`${name}_from`]: '1' }), [key])
    assert.deepEqual(withoutOldForm({ custom_field: `${key}=a=b`, page: '2' }), { page: '2', [name]: 'a=b' })
  }
  const longer = '🚚'.repeat(65)
  assert.deepEqual(customKeys({ [customName(longer)]: 'x' }), [])
  assert.deepEqual(withoutOldForm({ custom_field: `${longer}=x` }), {})
})
