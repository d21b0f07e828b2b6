import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate } from '../../migrate.ts'
import { databaseFile, openSqlite } from './open.ts'

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
  assert.equal(foreign_keys.length, 13)
  for (const { table, column } of foreign_keys) {
    const plan = file.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM ${table} WHERE ${column} = 1`).all()
    assert.match(String(plan[0]?.detail), new RegExp(`INDEX ${table}_${column}_all`))
  }
})
