// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, settingsOf } from '../../../test/engine.ts'
import { scratchFolder } from '../../../test/process.ts'
import { transaction } from '../db.ts'
import { searchContacts, searchText, searchWords } from '../lists/search.ts'
import { migrate } from '../migrate.ts'
import type { Tx } from '../tx.ts'
import { migrations } from './index.ts'

const people = 2500

test('contacts that were there before the index of tokens are found, changed and removed like new ones', async (t) => {
  const folder = scratchFolder(t)
  await settingsOf(folder, { migrated: false })
  const database = await openScratch(folder)
  t.after(() => database.close())
  const { db } = database
  await migrate(database, migrations.slice(0, 15))
  const insert = (tx: Tx, id: number, name: string) =>
    sql`INSERT INTO contacts (id, workspace_id, first_name, last_name, search_text, created_at, updated_at, deleted_at)
      VALUES (${id}, ${id % 5 === 0 ? 2 : 1}, ${name}, 'Öz', ${searchText([name, 'Öz', ''])}, '', '',
        ${id === people ? '2026' : null})`.execute(tx)
  // Several pages of contacts, of two workspaces, the last one in the trash.
  await transaction(db, async (tx) => {
    for (let id = 1; id <= people; id++) await insert(tx, id, `Łukasz😀${id}`)
  })
  assert.deepEqual(
    await migrate(database),
    migrations.slice(15).map(({ name }) => name),
  )

  const totalOf = async (workspace_id: number, query: string) => {
    const page = { limit: 25, offset: 0, conditions: [] }
    return (await searchContacts(db, { workspace_id, words: searchWords(query), ...page })).total
  }
  assert.equal(await totalOf(1, 'oz'), 2000)
  assert.equal(await totalOf(2, 'oz'), 499)
  assert.equal(await totalOf(1, 'lukasz😀77'), 9)
  assert.equal(await totalOf(2, 'ÁSZ😀25'), 3)
  await transaction(db, async (tx) => {
    await sql`UPDATE contacts SET search_text = 'renamed' WHERE id = 771`.execute(tx)
    await sql`DELETE FROM contacts WHERE id = 772`.execute(tx)
    await sql`UPDATE contacts SET deleted_at = NULL WHERE id = ${people}`.execute(tx)
  })
  assert.equal(await totalOf(1, 'lukasz😀77'), 7)
  assert.equal(await totalOf(1, 'renamed'), 1)
  assert.equal(await totalOf(2, 'oz'), 500)
})
