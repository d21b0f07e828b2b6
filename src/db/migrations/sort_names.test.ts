// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, removeScratch, settingsOf } from '../../../test/engine.ts'
import { startRapport } from '../../../test/harness.ts'
import { transaction } from '../db.ts'
import { migrate } from '../migrate.ts'
import { migrations } from './index.ts'

const people = 2500
// A value and a name that are longer than an index entry.
const long = JSON.stringify({ long: 'x'.repeat(150) })

test('records that were there before sort names, tags and custom fields are sorted and found like new ones', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(folder, { migrated: false })
  t.after(() => removeScratch(folder))
  const database = await openScratch(folder)
  await migrate(database, migrations.slice(0, 2))
  // As the version before wrote them: several pages of contacts, of two workspaces, the last one in the trash.
  await transaction(database.db, async (tx) => {
    const dates = sql`'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'`
    for (const id of [1, 2])
      await sql`INSERT INTO workspaces (id, name, created_at) VALUES (${id}, 'Old', '2026')`.execute(tx)
    for (let n = 0; n < people; n++)
      await sql`INSERT INTO contacts
        (workspace_id, first_name, last_name, tags, custom_fields, search_text, created_at, updated_at, deleted_at)
        VALUES (${n % 5 === 0 ? 2 : 1}, ${`Ä${n}`}, ${`Öz${n % 7}`}, ${n === 7 ? '["vip","vip"]' : '[]'},
          ${n === 8 ? '{"size":5,"ok":true}' : '{}'}, '', ${dates}, ${n === people - 1 ? '2026' : null})`.execute(
        tx,
      )
    await sql`INSERT INTO companies (workspace_id, name, custom_fields, created_at, updated_at)
      VALUES (1, 'Éclair', '{"region":"EMEA"}', ${dates}), (1, ${`ŁÓDŹ ﬁ Σς${'ß'.repeat(100)}`}, ${long}, ${dates})`.execute(
      tx,
    )
    await sql`INSERT INTO deals (workspace_id, name, stage, created_at, updated_at)
      VALUES (1, 'Größe', 'won', ${dates})`.execute(tx)
    await sql`INSERT INTO record_counts (workspace_id, name, slot, n)
      VALUES (1, 'contacts', 0, 1999), (1, 'companies', 0, 2), (1, 'deals', 0, 1)`.execute(tx)
  })
  await migrate(database)
  const namesOf = async (table: string) => {
    const query = sql<{ name: string }>`SELECT sort_name AS name FROM ${sql.table(table)} ORDER BY id`
    return (await query.execute(database.db)).rows.map(({ name }) => name)
  }
  assert.deepEqual(
    await namesOf('contacts'),
    Array.from({ length: people }, (_, n) => `oz${n % 7}\na${n}`),
  )
  assert.deepEqual(await namesOf('companies'), ['eclair', `lodz fi σσ${'s'.repeat(90)}`])
  assert.deepEqual(await namesOf('deals'), ['grosse'])
  const { rows } = await sql<{ line: string }>`
    SELECT kind || ' ' || field || ' ' || value AS line FROM field_values ORDER BY 1`.execute(database.db)
  assert.deepEqual(rows.map(({ line }) => line).sort(), [
    `companies custom_fields.long ${'x'.repeat(100)}`,
    'companies custom_fields.region EMEA',
    'contacts custom_fields.ok true',
    'contacts custom_fields.size 5',
    'contacts tags vip',
  ])
  await database.close()
  // And the service serves it.
  const rapport = await startRapport({ data_dir: folder })
  await rapport.close()
})
