// runs: both
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, settingsOf } from '../../../test/engine.ts'
import { scratchFolder } from '../../../test/process.ts'
import { useFor } from '../../../test/use.ts'
import { sortValue } from '../../custom-fields/defined-values.ts'
import { type Db, transaction } from '../db.ts'
import { searchContacts, searchText, searchWords, textOrNumberFilter } from '../lists/search.ts'
import { sortName } from '../lists/sort-names.ts'
import { migrate } from '../migrate.ts'
import type { Deletable } from '../records.ts'
import { normalised as released } from './0037_baseline.ts'
import { migrations } from './index.ts'

const people = 2500
const names = ['O’Neil', 'Jean–Luc', '“Delta” ﬃ', 'Ꜳpo `a´', 'Plain', `${'x'.repeat(95)}ꝏꝏꝏꝏ–`]
const nameOf = (id: number) => `${names[id % names.length]} ${id}`
const kinds = {
  companies: { field: 'name', more: '', values: '' },
  deals: { field: 'name', more: ', stage', values: ", 'demo'" },
  activities: { field: 'subject', more: ', type', values: ", 'call'" },
  appointments: { field: 'title', more: ', start_at, end_at, status', values: ", '1', '2', 'scheduled'" },
}
const before100 = (id: number) => released(nameOf(id)).slice(0, 100)
const before = migrations.findIndex(({ name }) => name === '0038_equal_characters')

const totalOf = async (db: Db, workspace_id: number, query: string) => {
  const page = { limit: 25, offset: 0, conditions: [] }
  return (await searchContacts(db, { workspace_id, words: searchWords(query), ...page })).total
}

/** A database as the version before wrote it: of two workspaces, each tenth record in the trash. */
async function oldDatabase(t: TestContext) {
  const folder = scratchFolder(t)
  await settingsOf(folder, { migrated: false })
  const database = await useFor(t, openScratch(folder))
  const { db } = database
  await migrate(database, migrations.slice(0, before))
  const of = (id: number) => sql`${id}, ${id % 5 === 0 ? 2 : 1}`
  const dates = (id: number) => sql`'', '', ${id % 10 === 0 ? '2026' : null}`
  await transaction(db, async (tx) => {
    await sql`INSERT INTO field_definitions (id, workspace_id, kind, key, label, type, options, is_required, is_unique, position,
      created_at, updated_at, status) VALUES (1, 1, 'companies', 'motto', 'Motto', 'text', '[]', 0, 0, 1, '', '', 'ready')`.execute(
      tx,
    )
    for (let id = 1; id <= people; id++)
      await sql`INSERT INTO contacts (id, workspace_id, first_name, last_name, sort_name, search_text, created_at, updated_at, deleted_at)
        VALUES (${of(id)}, 'Ada', ${nameOf(id)}, ${`${released(nameOf(id))}\nada`}, ${released(`Ada\n${nameOf(id)}\n`)}, ${dates(id)})`.execute(
        tx,
      )
    for (const [table, { field, more, values }] of Object.entries(kinds))
      for (let id = 1; id <= 40; id++)
        await sql`INSERT INTO ${sql.table(table)} (id, workspace_id, ${sql.ref(field)}, sort_name, custom_fields,
          created_at, updated_at, deleted_at ${sql.raw(more)})
          VALUES (${of(id)}, ${nameOf(id)}, ${before100(id)}, ${JSON.stringify({ motto: nameOf(id), n: 1 })},
            ${dates(id)} ${sql.raw(values)})`.execute(tx)
    for (let id = 1; id <= 40; id++)
      if (id % 5)
        await sql`INSERT INTO defined_values (workspace_id, definition_id, record_id, sort_value)
          VALUES (1, 1, ${id}, ${before100(id)})`.execute(tx)
  })
  return { folder, database, db }
}

test('records that were there before the list of equal characters are found by each spelling, and sorted like new ones', async (t) => {
  const { database, db } = await oldDatabase(t)
  assert.deepEqual(
    await migrate(database),
    migrations.slice(before).map(({ name }) => name),
  )
  for (const query of ["O'NEIL", 'jean-luc', '"delta" ffi', "aapo 'a'", 'plain', 'oooo-']) {
    const words = searchWords(query)
    const found = Array.from({ length: people }, (_, n) => n + 1)
      .filter((id) => id % 10)
      .filter((id) => words.every((word) => searchText([nameOf(id)]).includes(word)))
    const of_first = found.filter((id) => id % 5)
    assert.ok(of_first.length > 300)
    assert.equal(await totalOf(db, 1, query), of_first.length, query)
    assert.equal(await totalOf(db, 2, query), found.length - of_first.length, query)
  }
  const rowsOf = async <Row>(text: ReturnType<typeof sql<Row>>) => (await text.execute(db)).rows
  // In the trash, too: a restore does not write them again.
  for (const { id, sort_name, search_text } of await rowsOf(
    sql<{
      id: number
      sort_name: string
      search_text: string
    }>`SELECT id, sort_name, search_text FROM contacts`,
  )) {
    assert.equal(sort_name, sortName(nameOf(id), 'Ada'))
    assert.equal(search_text, searchText(['Ada', nameOf(id), '']))
  }
  for (const table of Object.keys(kinds)) {
    const rows = await rowsOf(
      sql<{ id: number; sort_name: string }>`SELECT id, sort_name FROM ${sql.table(table)}`,
    )
    assert.equal(rows.length, 40)
    for (const { id, sort_name } of rows) assert.equal(sort_name, sortName(nameOf(id)))
    const named = { table: table as Deletable, numbers: [], search_text: [] }
    const [filter] = await textOrNumberFilter(db, named, 1, 'o’neil')
    const found = await rowsOf(sql`SELECT id FROM ${sql.table(table)} WHERE ${filter?.where}`)
    assert.equal(found.length, 6)
  }
  const values = await rowsOf(
    sql<{ id: number; value: string }>`SELECT record_id AS id, sort_value AS value FROM defined_values`,
  )
  assert.equal(values.length, 32)
  for (const { id, value } of values) assert.equal(value, sortValue('text', nameOf(id)))
})

test('a migration of the searched texts that failed in the middle runs again, and one of several processes runs it', async (t) => {
  const { folder, database, db } = await oldDatabase(t)
  const failing = migrations.map((one) =>
    one.name === '0038_equal_characters'
      ? {
          ...one,
          fill: async (...given: Parameters<NonNullable<typeof one.fill>>) => {
            await one.fill?.(...given)
            throw new Error('killed')
          },
        }
      : one,
  )
  await assert.rejects(migrate(database, failing), /killed/)
  assert.equal(await totalOf(db, 1, "o'neil"), 0)
  const others = await Promise.all([1, 2].map(() => openScratch(folder)))
  t.after(() => Promise.all(others.map((other) => other.close())))
  const ran = await Promise.all([database, ...others].map((one) => migrate(one)))
  assert.deepEqual(
    ran.flat().sort(),
    migrations.slice(before).map(({ name }) => name),
  )
  assert.ok((await totalOf(db, 1, "o'neil")) > 300)
})
