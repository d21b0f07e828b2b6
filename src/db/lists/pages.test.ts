// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { runs } from '../../../test/quick.ts'
import { use } from '../../../test/use.ts'
import { transaction } from '../db.ts'
import { moveRecord } from '../records.ts'
import { recordset, rowsOf } from '../statements/recordset.ts'
import { newestIds } from './pages.ts'

const now = '2026-11-21T08:30:00.000Z'
const database = use(openMigrated)

const columns = { id: 'bigint!', workspace_id: 'bigint!' } as const

/** Adds companies with these ids, of which every second one of a run belongs to the first workspace. */
const add = (ids: number[]) =>
  transaction(database.db, async (tx) => {
    const rows = rowsOf(
      columns,
      ids.map((id) => ({ id, workspace_id: (id % 2) + 1 })),
    )
    await sql`INSERT INTO companies (id, workspace_id, name, created_at, updated_at)
      SELECT id, workspace_id, 'C', ${now}, ${now} FROM ${recordset(tx, rows, columns)} AS r`.execute(tx)
  })

const liveIds = async (workspace_id: number) => {
  const { rows } = await sql<{ id: number }>`SELECT id FROM companies
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL ORDER BY id DESC`.execute(database.db)
  return rows.map(({ id }) => id)
}

test('every page has the records that it would have if all were counted, however deep it lies, after any deletes and restores', async () => {
  // Several blocks, a block of which nothing is left, and gaps.
  const ids = Array.from({ length: 20_000 }, (_, index) => index + 1).filter((id) => id % 7 !== 0)
  await add(ids)
  await transaction(database.db, (tx) =>
    tx.deleteFrom('companies').where('id', '>=', 8192).where('id', '<', 12_288).execute(),
  )
  const move = (id: number, deleted_at: string | null) =>
    transaction(database.db, (tx) => moveRecord(tx, 'companies', [], (id % 2) + 1, id, deleted_at))

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ id: fc.integer({ min: 1, max: 20_000 }), restore: fc.boolean() }), {
        maxLength: 40,
      }),
      fc.array(
        fc.record({
          at: fc.double({ min: 0, max: 1, noNaN: true }),
          per_page: fc.integer({ min: 1, max: 100 }),
        }),
      ),
      async (moves, pages) => {
        for (const { id, restore } of moves) await move(id, restore ? null : now)
        for (const workspace_id of [1, 2]) {
          const expected = await liveIds(workspace_id)
          for (const { at, per_page } of pages) {
            const offset = Math.floor(at * (expected.length + 50))
            const found = await newestIds(database.db, 'companies', workspace_id, {
              limit: per_page,
              offset,
              after: null,
            })
            assert.deepEqual(found, expected.slice(offset, offset + per_page))
          }
        }
      },
    ),
    { numRuns: runs(15) },
  )
  const { rows } = await sql<{ n: number }>`SELECT sum(n) AS n FROM record_blocks
    WHERE kind = 'companies' GROUP BY workspace_id ORDER BY workspace_id`.execute(database.db)
  assert.deepEqual(
    rows.map(({ n }) => n),
    [(await liveIds(1)).length, (await liveIds(2)).length],
  )
})

test('a block that other records share never hides a workspace that has none there', async () => {
  assert.deepEqual(await newestIds(database.db, 'companies', 3, { limit: 25, offset: 600, after: null }), [])
})
