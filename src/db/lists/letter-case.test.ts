// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { use } from '../../../test/use.ts'
import { transaction } from '../db.ts'
import { followIndexes } from '../statements/plans.ts'
import { lowerCase, lowerCased } from './letter-case.ts'

const database = use(openMigrated)

test('a column in lower case is the text that it is compared with, for every letter', async () => {
  const { db } = database
  for (const text of ['ANA@Acme.example', 'Ünïcode@ÄÖ.example', 'İstanbul', 'ΣΑΣ', 'Kelvin \u212a', '']) {
    const from = sql`(SELECT cast(${text} AS text) AS email) AS given`
    const { rows } = await sql<{ low: string }>`SELECT ${lowerCase(db, 'email')} AS low FROM ${from}`.execute(
      db,
    )
    assert.equal(rows[0]?.low, lowerCased(text))
  }
})

test('a contact is found by its e-mail along an index', async () => {
  const explain = sql.raw(database.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN')
  const plan = await transaction(database.db, async (tx) => {
    await followIndexes(tx)
    const { rows } = await sql`${explain} SELECT id FROM contacts WHERE workspace_id = 1
      AND ${lowerCase(tx, 'email')} = 'a@b.example' AND email IS NOT NULL AND deleted_at IS NULL
      ORDER BY id LIMIT 1`.execute(tx)
    return JSON.stringify(rows)
  })
  assert.match(plan, /contacts_by_email/)
  assert.doesNotMatch(plan, /SCAN contacts|Seq Scan|Sort|TEMP B-TREE/)
})
