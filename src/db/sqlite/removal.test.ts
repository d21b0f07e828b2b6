import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate } from '../migrate.ts'
import { databaseFile, openSqlite } from './open.ts'

test('nothing of a contact stays in the search index after it is deleted, or of a name after it is changed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-forget-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const database = openSqlite(databaseFile(folder))
  await migrate(database)
  await database.close()
  const file = new DatabaseSync(databaseFile(folder))
  t.after(() => file.close())
  const columns = 'workspace_id, first_name, last_name, search_text, created_at, updated_at'
  const add = file.prepare(`INSERT INTO contacts (${columns}) VALUES (1, 'a', 'b', ?, '', '')`)
  // One transaction each, so that the index has several layers.
  for (let n = 0; n < 100; n++) add.run(`person ${n}`)
  add.run('zqx')
  for (let n = 0; n < 100; n++) add.run(`human ${n}`)
  const parts = file.prepare(
    'SELECT count(*) AS n FROM contacts_search_data WHERE instr(block, CAST(? AS blob)) > 0',
  )
  const left = () => ['zqx', 'jqv'].map((part) => Number(parts.get(part)?.n) > 0)
  assert.deepEqual(left(), [true, false])
  file.exec("UPDATE contacts SET search_text = 'jqv' WHERE search_text = 'zqx'")
  assert.deepEqual(left(), [false, true])
  file.exec("UPDATE contacts SET deleted_at = '2026' WHERE search_text = 'jqv'")
  assert.deepEqual(left(), [false, false])
  file.exec("INSERT INTO contacts_search (contacts_search) VALUES ('integrity-check')")
})

test('the row of a record goes without a look through the tables that may refer to it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-refer-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const database = openSqlite(databaseFile(folder))
  await migrate(database)
  await database.close()
  const file = new DatabaseSync(databaseFile(folder))
  t.after(() => file.close())
  const foreign_keys = file
    .prepare(
      `SELECT m.name AS "table", k."from" AS "column" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS k
      WHERE m.type = 'table' AND k."table" IN ('contacts', 'companies', 'deals', 'booking_pages')`,
    )
    .all()
  assert.equal(foreign_keys.length, 9)
  for (const { table, column } of foreign_keys) {
    const plan = file.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${column} = 1`).all()
    assert.match(String(plan[0]?.detail), new RegExp(`INDEX ${table}_${column}_all`))
  }
})
