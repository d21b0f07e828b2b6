// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { bestOfTen } from '../../../test/statements.ts'
import { useFor } from '../../../test/use.ts'
import { transaction } from '../db.ts'
import { addCounts } from './counts.ts'
import { equals, hasValue, within } from './filters.ts'
import { findRecords } from './lists.ts'
import { dated, findSorting, newest_first } from './orders.ts'

const workspace_id = 1
const contacts = 20_000

test('filters that many records meet, and hardly any or none together, do not multiply their costs', async (t) => {
  const { db } = await useFor(t, openMigrated())
  await transaction(db, async (tx) => {
    await sql`INSERT INTO workspaces (id, name, created_at) VALUES (1, 'One', '2026')`.execute(tx)
    const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${contacts})`
    await sql`INSERT INTO contacts (workspace_id, first_name, last_name, search_text, stage, created_at, updated_at)
      ${numbers} SELECT 1, 'A', 'B', 'a b', CASE i % 2 WHEN 0 THEN 'even' ELSE 'odd' END,
        '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n`.execute(tx)
    // The first half has the tag, the second one the field; one contact has both.
    await sql`INSERT INTO field_values (workspace_id, kind, field, value, record_id)
      ${numbers} SELECT 1, 'contacts', CASE WHEN i <= ${contacts / 2} THEN 'tags' ELSE 'custom_fields.region' END, 'x', i
      FROM n UNION ALL SELECT 1, 'contacts', 'custom_fields.region', 'x', 7`.execute(tx)
    const counts = { contacts, 'contacts.stage=even': contacts / 2, 'contacts.stage=odd': contacts / 2 }
    await addCounts(
      tx,
      Object.entries(counts).map(([name, by]) => ({ workspace_id, name, by })),
    )
  })
  const tag = hasValue(db, 'contacts', workspace_id, 'tags', ['x'])
  const region = hasValue(db, 'contacts', workspace_id, 'custom_fields.region', ['x'])
  const even = equals('stage', 'even', contacts / 2)
  const combinations = {
    both: [tag, region],
    'both and a stage': [tag, region, even],
    'both and a date': [tag, region, ...within('created_at', '2026-01-01T00:00:00.000Z', undefined)],
  }
  for (const [name, filters] of Object.entries(combinations))
    for (const sorting of [newest_first, findSorting(dated, 'created_at') ?? newest_first])
      for (const page of [
        { per_page: 25, offset: 0 },
        { per_page: 25, after: null },
      ]) {
        const timed = async () => {
          const start = performance.now()
          const found = await findRecords(db, {
            table: 'contacts',
            workspace_id,
            filters,
            sorting,
            page,
          })
          return { ...found, took_ms: performance.now() - start }
        }
        const { ids, next, took_ms } = await bestOfTen(timed, (one) => one.took_ms < 1500)
        assert.deepEqual([ids, next], [name.endsWith('stage') ? [] : [7], null], name)
        // One look at each takes some ten milliseconds; each with each takes many seconds.
        assert.ok(took_ms < 1500, `${name}, ${sorting.name}, ${Object.keys(page)}: ${took_ms.toFixed(0)} ms`)
      }
})
