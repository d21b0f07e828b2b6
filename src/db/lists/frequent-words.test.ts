// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openMigrated } from '../../../test/engine.ts'
import { use } from '../../../test/use.ts'
import { type Tx, transaction } from '../db.ts'
import { isFrequent } from './frequent-words.ts'
import { searchContacts, searchWords } from './search.ts'

const database = use(openMigrated)

const count = 13_000
const words = searchWords('ana @mail')

/** Contacts with ids from `first` to `last`. All but each seventh have the words. */
const insert = (tx: Tx, first: number, last: number) =>
  sql`WITH RECURSIVE n (id) AS (SELECT ${sql.lit(first)} UNION ALL SELECT id + 1 FROM n WHERE id < ${sql.lit(last)})
    INSERT INTO contacts (id, workspace_id, first_name, last_name, search_text, created_at, updated_at)
    SELECT id, 1, 'Ana', 'Ruiz', CASE WHEN id % 7 = 0 THEN 'bo' ELSE 'ana ruiz a@mail.example' END, '', '' FROM n`.execute(
    tx,
  )

async function agrees(what: string) {
  const { rows } = await sql<{ id: number }>`SELECT id FROM contacts
    WHERE workspace_id = 1 AND deleted_at IS NULL AND search_text LIKE '%ana%' AND search_text LIKE '%@mail%'
    ORDER BY id DESC`.execute(database.db)
  const expected = rows.map(({ id }) => id)
  for (const offset of [0, 3500, 3600, 8000, expected.length - 5, expected.length, 100_000]) {
    const search = { workspace_id: 1, words, conditions: [], limit: 25, offset }
    const found = await searchContacts(database.db, search)
    const page = expected.slice(offset, offset + 25)
    assert.deepEqual(found, { ids: page, total: expected.length }, `${what}, from ${offset}`)
  }
}

test('the total and the pages of a frequent word are exact after each kind of change', async () => {
  const { db } = database
  await transaction(db, (tx) => insert(tx, 1, count))
  await agrees('at first')
  assert.ok(isFrequent(db, { workspace_id: 1, words }))
  const changes: Record<string, (tx: Tx) => Promise<unknown>> = {
    'a new contact': (tx) => insert(tx, count + 1, count + 1),
    'another text': (tx) =>
      tx.updateTable('contacts').set({ search_text: 'bo' }).where('id', 'in', [5, 9000]).execute(),
    'a text that gets the words': (tx) =>
      tx.updateTable('contacts').set({ search_text: 'ana @mail' }).where('id', '=', 14).execute(),
    'a contact in the trash': (tx) =>
      tx.updateTable('contacts').set({ deleted_at: '2026' }).where('id', 'in', [20, 12_000]).execute(),
    'a restored contact': (tx) =>
      tx.updateTable('contacts').set({ deleted_at: null }).where('id', '=', 20).execute(),
    'a removed contact': (tx) => tx.deleteFrom('contacts').where('id', '=', 4099).execute(),
    'a block without contacts': (tx) =>
      tx.deleteFrom('contacts').where('id', '>=', 4096).where('id', '<', 8192).execute(),
  }
  for (const [what, change] of Object.entries(changes)) {
    const undone = transaction(db, async (tx) => {
      await change(tx)
      await searchContacts(tx, { workspace_id: 1, words, conditions: [], limit: 25, offset: 0 })
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)
    await agrees(`${what}, undone`)
    await transaction(db, change)
    await agrees(what)
  }
})
