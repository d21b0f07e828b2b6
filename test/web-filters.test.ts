import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FilterValue, readFilter, writeFilter } from '../web/src/ui/filter-value.ts'

const cases: [string, FilterValue][] = [
  ['lead', { op: 'is', values: ['lead'] }],
  ['lead,won', { op: 'is', values: ['lead', 'won'] }],
  ['!lost', { op: 'not', values: ['lost'] }],
  ['!lost,!won', { op: 'not', values: ['lost', 'won'] }],
  ['null', { op: 'empty', values: [] }],
  ['!null', { op: 'filled', values: [] }],
  ['Ruiz\\, Ana,\\!urgent', { op: 'is', values: ['Ruiz, Ana', '!urgent'] }],
  ['!\\!urgent', { op: 'not', values: ['!urgent'] }],
]

test('a filter in the address is read as what it says, and written as it was', () => {
  for (const [text, value] of cases) {
    assert.deepEqual(readFilter(text), value, text)
    assert.equal(writeFilter(value), text)
  }
})

test('a filter without a value is none', () => {
  assert.equal(writeFilter({ op: 'is', values: [] }), null)
  assert.equal(writeFilter({ op: 'not', values: [] }), null)
  assert.deepEqual(readFilter(''), { op: 'is', values: [] })
})
