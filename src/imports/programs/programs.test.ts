import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folded } from '../../cells/words.ts'
import { activity_types } from '../../resources/activities/schema.ts'
import { stages } from '../../resources/deals/stages.ts'
import { programs } from './index.ts'
import type { ProgramColumn } from './program.ts'

const everywhere = ['owner', 'tags', 'source', null]
const targets: Record<string, readonly (string | null)[]> = {
  contacts: [
    ...['first_name', 'middle_name', 'last_name', 'name', 'email', 'phone', 'mobile', 'company', 'title'],
    'stage',
  ],
  companies: ['name', 'website', 'industry', 'phone', 'address', 'address_part'],
  deals: [
    ...['name', 'value', 'stage', 'probability', 'expected_close_date', 'close_date', 'priority'],
    ...['status', 'won_time', 'lost_time', 'closed_at', 'lost_reason', 'company', 'contact'],
  ],
  activities: [
    ...['subject', 'type', 'body', 'note', 'due_at', 'due_date', 'due_time', 'done', 'completed_at'],
    ...['company', 'contact', 'deal'],
  ],
}
const codes: Record<string, readonly string[]> = {
  stage: stages,
  status: ['open', 'won', 'lost'],
  type: activity_types,
  done: ['yes', 'no'],
}
const targetOf = (column: ProgramColumn) =>
  column === null || typeof column === 'string' ? column : column.to

test('each column of a program leads to a field of its kind, and each value to a code', () => {
  for (const { id, files, labels = {} } of programs)
    for (const { kind, columns, fixed = {} } of files) {
      const known = [...everywhere, ...(targets[kind] ?? [])]
      for (const [header, column] of Object.entries(columns)) {
        const to = targetOf(column)
        assert.ok(known.includes(to), `${id}: ${header} is ${to}`)
        const values = typeof column === 'object' ? Object.values(column?.values ?? {}) : []
        for (const value of values) assert.ok(codes[to ?? '']?.includes(value), `${id}: ${header}: ${value}`)
      }
      for (const [field, value] of Object.entries(fixed)) assert.ok(codes[field]?.includes(value), `${id}`)
      if (kind === 'contacts') for (const to of Object.values(labels)) assert.ok(known.includes(to), id)
    }
})

test('a header has one target, however it is written', () => {
  for (const { id, files } of programs)
    for (const { columns } of files) {
      const found = new Map<string, string | null>()
      for (const [header, column] of Object.entries(columns)) {
        const to = targetOf(column)
        assert.equal(found.get(folded(header)) ?? to, to, `${id}: ${header}`)
        found.set(folded(header), to)
      }
    }
})

test('a program has a name, a source and evidence for each file', () => {
  assert.equal(new Set(programs.map(({ id }) => id)).size, programs.length)
  for (const { id, label, sources, files } of programs) {
    assert.ok(label && sources.length, id)
    for (const { evidence } of files)
      assert.ok(evidence.length >= 2 && evidence.every((part) => part.length), id)
  }
})
