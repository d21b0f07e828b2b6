import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openMigrated } from '../../test/engine.ts'
import { useFor } from '../../test/use.ts'
import { resources } from '../resources/index.ts'
import { columnsOf, kept_columns, not_copied, pageKey, tablesOf } from './tables.ts'

const tables = tablesOf(resources)

const open = async (t: TestContext) => (await useFor(t, openMigrated())).db

test('every table that the migrations make is moved', async (t) => {
  const db = await open(t)
  const made = (await db.introspection.getTables()).map(({ name }) => name)
  // The list of migrations is the target's own; triggers keep SQLite's search index.
  const own = made.filter((name) => !/^(schema_migrations|contacts_search.*)$/.test(name))
  const known = [...tables.map(({ name }) => name), ...not_copied]
  assert.deepEqual(own.sort(), known.sort())
})

test('every column is moved but those that the database keeps by itself', async (t) => {
  const db = await open(t)
  for (const { name, columns } of await db.introspection.getTables()) {
    const table = tables.find((one) => one.name === name)
    if (!table) continue
    const moved = Object.keys(await columnsOf(db, name))
    const all = columns
      .map((column) => column.name)
      .filter((column) => name !== 'deals' || column !== 'status')
      .filter((column) => !kept_columns.includes(column))
    assert.deepEqual(moved, all.sort())
    for (const column of pageKey(db, table)) assert.ok(moved.includes(column), `${name}.${column}`)
  }
})
