// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { use } from '../../../test/use.ts'
import { transaction } from '../db.ts'
import { followIndexes } from '../statements/plans.ts'
import { match_keys } from './match-keys.ts'

const database = use(openMigrated)

for (const [field, table] of [
  ['email', 'contacts'],
  ['phone', 'contacts'],
  ['phone', 'companies'],
  ['website', 'companies'],
] as const)
  test(`records of ${table} are found by their ${field} along an index`, async () => {
    const explain = sql.raw(database.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN')
    const plan = await transaction(database.db, async (tx) => {
      await followIndexes(tx)
      const { key, where } = match_keys[field]
      const { rows } = await sql`${explain} SELECT id FROM ${sql.table(table)} WHERE workspace_id = 1
        AND ${key} = 'a@b.example' AND ${where} AND deleted_at IS NULL ORDER BY id LIMIT 1`.execute(tx)
      return JSON.stringify(rows)
    })
    assert.match(plan, new RegExp(`${table}_by_${field}`))
    assert.doesNotMatch(plan, /SCAN c|Seq Scan|TEMP B-TREE/)
  })
