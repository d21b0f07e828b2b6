// runs: both
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { openMigrated } from '../../test/engine.ts'
import { use } from '../../test/use.ts'
import { transaction } from './db.ts'
import { countOf, recount } from './lists/counts.ts'
import { deletedAt, moveRecord } from './records.ts'

const database = use(openMigrated)
const created = '2026-11-21T08:30:00.000Z'
const counted = ['stage', 'company_id'] as const
let id: number

let workspace_id = 10
beforeEach(async () => {
  workspace_id++
  const texts = { first_name: 'Ana', last_name: 'Ruiz', stage: 'lead', search_text: '' }
  const stored = { custom_fields: '{}', tags: '[]', created_at: created, updated_at: created }
  id = await transaction(database.db, async (tx) => {
    const values = { ...texts, ...stored, workspace_id }
    const row = await tx.insertInto('contacts').values(values).returning('id').executeTakeFirstOrThrow()
    await recount(tx, workspace_id, 'contacts', counted, null, { stage: 'lead', company_id: null })
    return row.id
  })
})

const move = (deleted_at: string | null, workspace = workspace_id) =>
  transaction(database.db, (tx) => moveRecord(tx, 'contacts', counted, workspace, id, deleted_at))
const totals = async () => [
  await countOf(database.db, workspace_id, 'contacts'),
  await countOf(database.db, workspace_id, 'contacts.stage=lead'),
]
const at = () => deletedAt(database.db, 'contacts', workspace_id, id)
const first = '2026-11-22T00:00:00.000Z'
const second = '2026-11-23T00:00:00.000Z'

test('a record that is moved to the trash twice leaves the totals once, and keeps its first time', async () => {
  assert.deepEqual([await move(first), await at(), await totals()], [true, first, [0, 0]])
  assert.deepEqual([await move(second), await at(), await totals()], [false, first, [0, 0]])
})

test('a record that is brought back twice, or was never away, is counted once', async () => {
  assert.deepEqual([await move(null), await totals()], [false, [1, 1]])
  await move(first)
  assert.deepEqual([await move(null), await at(), await totals()], [true, null, [1, 1]])
  assert.deepEqual([await move(null), await totals()], [false, [1, 1]])
})

test('a record of another workspace is not moved', async () => {
  assert.deepEqual([await move(first, workspace_id + 1), await at(), await totals()], [false, null, [1, 1]])
})
