import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type Database, type Db, transaction } from '../../db.ts'
import { migrate } from '../../migrate.ts'
import type { Tx } from '../../tx.ts'
import { openSqlite } from './open.ts'
import { searchByTokens } from './search.ts'

let folder: string
let database: Database
let db: Db
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rapport-ahead-'))
  database = openSqlite(join(folder, 'test.db'))
  db = database.db
  await migrate(database)
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const add = async (tx: Tx, texts: readonly string[]) => {
  for (const text of texts)
    await sql`INSERT INTO contacts (workspace_id, first_name, last_name, search_text, created_at, updated_at)
      VALUES (1, '', '', ${text}, '', '')`.execute(tx)
}
const listed = async (handle: Db) =>
  (await sql<{ n: number }>`SELECT count(*) AS n FROM contacts_search_changes`.execute(handle)).rows[0]?.n
const found = async (word: string) =>
  (await searchByTokens(db, { workspace_id: 1, words: [word], conditions: [], limit: 10, offset: 0 })).total

test('a large transaction indexes its contacts before its commit, and a search finds those of all its parts', async () => {
  await transaction(
    db,
    async (tx) => {
      await add(tx, ['ana ruiz', 'bo ruiz'])
      assert.equal(await listed(tx), 2)
      tx.session.writeAhead()
      assert.equal(await listed(tx), 0)
      await add(tx, ['cy ruiz'])
      tx.session.writeAhead()
      await add(tx, ['di ruiz'])
      assert.equal(await found('ruiz'), 0)
    },
    { large: true },
  )
  assert.deepEqual([await found('ruiz'), await found('cy')], [4, 1])
})

test('a rollback takes back what was indexed before', async () => {
  const failing = transaction(
    db,
    async (tx) => {
      await add(tx, ['ana ruiz'])
      tx.session.writeAhead()
      throw new Error('No.')
    },
    { large: true },
  )
  await assert.rejects(failing, /No\./)
  assert.equal(await found('ruiz'), 0)
  await transaction(db, (tx) => add(tx, ['eve ruiz']), { large: true })
  assert.deepEqual([await found('ruiz'), await found('ana')], [1, 0])
})

test('in a transaction that shares its commit, the index waits for the commit', async () => {
  await transaction(db, async (tx) => {
    await add(tx, ['ana ruiz'])
    tx.session.writeAhead()
    assert.equal(await listed(tx), 1)
  })
  assert.equal(await found('ana'), 1)
})
