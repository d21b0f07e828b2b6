import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScratch } from '../../test/engine.ts'
import { scratchFolder } from '../../test/process.ts'
import { migrate } from '../db/migrate.ts'
import { columnsOf, pageKey, table_names } from './tables.ts'

async function open(t: import('node:test').TestContext) {
  const database = await openScratch(scratchFolder(t))
  await migrate(database)
  t.after(() => database.close())
  return database.db
}

test('every table that the migrations make is moved', async (t) => {
  const db = await open(t)
  const made = (await db.introspection.getTables()).map(({ name }) => name)
  // The list of migrations is the target's own; triggers keep the blocks and SQLite's search index.
  const own = made.filter((name) => !/^(schema_migrations|record_blocks|contacts_search.*)$/.test(name))
  assert.deepEqual(own.sort(), [...table_names].sort())
})

test('every column is moved but the one that the database makes by itself', async (t) => {
  const db = await open(t)
  for (const { name, columns } of await db.introspection.getTables()) {
    const table = table_names.find((one) => one === name)
    if (!table) continue
    const moved = Object.keys(await columnsOf(db, table))
    const all = columns
      .map((column) => column.name)
      .filter((column) => table !== 'deals' || column !== 'status')
    assert.deepEqual(moved, all.sort())
    for (const column of pageKey(db, table)) assert.ok(moved.includes(column), `${table}.${column}`)
  }
})
