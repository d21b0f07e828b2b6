// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  moveColumn,
  readWidths,
  toggleColumn,
  withHidden,
  writeWidths,
} from '../../web/src/ui/column-order.ts'

const ids = ['name', 'company', 'stage', 'value', 'owner']

test('a moved column is at its new place, and the others keep their order', () => {
  const table: [string, number, string][] = [
    ['stage', 1, 'name stage company value owner'],
    ['stage', 4, 'name company value owner stage'],
    ['company', 2, 'name stage company value owner'],
    ['company', 1, 'name company stage value owner'],
    // Past the ends, and before the name.
    ['value', 0, 'name value company stage owner'],
    ['value', 99, 'name company stage owner value'],
    // The name, and a column that is not shown.
    ['name', 2, 'name company stage value owner'],
    ['lost_reason', 2, 'name company stage value owner'],
  ]
  for (const [id, to, order] of table) assert.equal(moveColumn(ids, id, to).join(' '), order)
})

test('whatever is moved, hidden and shown, no column is lost or doubled, and the first one stays', () => {
  const step = fc.record({
    id: fc.constantFrom(...ids),
    to: fc.integer({ min: -2, max: 7 }),
    toggles: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let shown = ids
      for (const { id, to, toggles } of steps) {
        const before = shown
        if (!toggles) shown = moveColumn(shown, id, to)
        else if (id !== ids[0]) shown = toggleColumn(ids, shown, id)
        const stays = (one: string) => before.includes(one) && shown.includes(one) && one !== id
        assert.deepEqual(shown.filter(stays), before.filter(stays))
        assert.equal(shown[0], ids[0])
        assert.deepEqual([...withHidden(ids, shown)].sort(), [...ids].sort())
        assert.equal(new Set(shown).size, shown.length)
      }
    }),
  )
})

test('a hidden column is shown again beside the column that the list has before it', () => {
  const shown = ['name', 'owner', 'company']
  assert.deepEqual(withHidden(ids, shown), ['name', 'owner', 'company', 'stage', 'value'])
  assert.deepEqual(toggleColumn(ids, shown, 'value'), ['name', 'owner', 'company', 'value'])
  assert.deepEqual(toggleColumn(ids, shown, 'owner'), ['name', 'company'])
})

test('columns with own widths are read as they are written; unknown and doubled ones are left out, and a width has bounds', () => {
  const table: [string, string][] = [
    ['name,stage:240,value', 'name,stage:240,value'],
    ['stage:240,gone:90,value', 'name,stage:240,value'],
    ['name:9,stage:99999', 'name:56,stage:800'],
    ['name,stage:wide,value:', 'name'],
    ['stage,stage:90', 'name,stage:90'],
    ['', 'name'],
  ]
  for (const [text, read] of table) {
    const widths = readWidths(text, ids)
    assert.equal(writeWidths([...widths.keys()], widths), read)
  }
})
