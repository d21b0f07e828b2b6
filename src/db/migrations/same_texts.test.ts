// runs: both
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, settingsOf } from '../../../test/engine.ts'
import { scratchFolder } from '../../../test/process.ts'
import { useFor } from '../../../test/use.ts'
import { uniqueValue } from '../../custom-fields/defined-values.ts'
import { transaction } from '../db.ts'
import { indexedValue } from '../lists/field-values.ts'
import { emailKey, phoneKey, sameName, sameText, websiteKey } from '../lists/same-text.ts'
import { sortName } from '../lists/sort-names.ts'
import { migrate } from '../migrate.ts'
import { migrations } from './index.ts'

const before = migrations.findIndex(({ name }) => name === '0044_same_texts')
const texts = [
  'Acme',
  'Cafe\u0301  Ruiz',
  'Café\u00a0Ruiz',
  'Tab\tbed',
  'Ca\u00adf\ufeffe',
  'Back\\slash',
  `${'x'.repeat(99)}\u0301yz`,
]
const emails = ['Ana@Acme.example', 'u@MÜLLER.example', 'u@mu\u0308ller.example', 'u\u00ad@acme.example']
const phones = ['+49 30 1', '0049 (0)30/1', '12', '\u202a+1 555\u202c']
const websites = ['https://www.Acme.example/', 'müller.example', 'acme.example/shop']
const one = (list: string[], id: number) => list[id % list.length] as string
const rows = 2200

test('records of before have the keys and the index entries that a new record gets', async (t) => {
  const folder = scratchFolder(t)
  await settingsOf(folder, { migrated: false })
  const database = await useFor(t, openScratch(folder))
  const { db } = database
  await migrate(database, migrations.slice(0, before))
  const of = (id: number) => sql`${id}, ${id % 5 === 0 ? 2 : 1}, ${id % 10 === 0 ? '2026' : null}, '', ''`
  const dates = sql`id, workspace_id, deleted_at, created_at, updated_at`
  await transaction(db, async (tx) => {
    await sql`INSERT INTO field_definitions (id, workspace_id, kind, key, label, type, options, is_required, is_unique, position,
      created_at, updated_at, status) VALUES (1, 1, 'companies', 'code', 'Code', 'text', '[]', 0, 1, 1, '', '', 'ready')`.execute(
      tx,
    )
    for (let id = 1; id <= rows; id++)
      await sql`INSERT INTO contacts (${dates}, first_name, last_name, sort_name, search_text, email, phone, mobile)
        VALUES (${of(id)}, 'Ada', ${one(texts, id)}, ${`old\nada`}, '', ${id % 3 ? one(emails, id) : null},
          ${one(phones, id)}, ${id % 7 ? null : one(phones, id + 1)})`.execute(tx)
    for (let id = 1; id <= 40; id++) {
      const text = one(texts, id)
      const code = `${text} ${id}`
      await sql`INSERT INTO companies (${dates}, name, sort_name, website, tags, custom_fields)
        VALUES (${of(id)}, ${text}, ${sortName(text)}, ${one(websites, id)}, ${JSON.stringify([text])},
          ${JSON.stringify({ code })})`.execute(tx)
      for (const [field, value] of [
        ['tags', text],
        ['custom_fields.code', code],
      ] as const)
        await sql`INSERT INTO field_values (workspace_id, kind, field, value, record_id)
          VALUES (${id % 5 === 0 ? 2 : 1}, 'companies', ${field}, ${indexedValue(value)}, ${id})`.execute(tx)
      if (id % 5)
        await sql`INSERT INTO defined_values (workspace_id, definition_id, record_id, sort_value, unique_value)
          VALUES (1, 1, ${id}, 'old', ${code.length > 100 ? `#${hash('sha256', code)}` : code})`.execute(tx)
    }
    // Merged records, one of them removed from the trash.
    for (const record_id of [10, 20, 9999])
      await sql`INSERT INTO merged_records (workspace_id, kind, record_id, merge_id, survivor_id)
        VALUES (2, 'companies', ${record_id}, 1, 5)`.execute(tx)
  })
  assert.deepEqual(
    await migrate(database),
    migrations.slice(before).map(({ name }) => name),
  )

  const contacts = await db.selectFrom('contacts').selectAll().execute()
  assert.equal(contacts.length, rows)
  for (const { id, email, phone, mobile, ...keys } of contacts) {
    assert.equal(keys.email_key, email && emailKey(email))
    assert.equal(keys.phone_key, phone && phoneKey(phone))
    assert.equal(keys.mobile_key, mobile && phoneKey(mobile))
    if (sameText(one(texts, id)) !== one(texts, id))
      assert.equal(keys.sort_name, sortName(one(texts, id), 'Ada'))
  }
  for (const { website, website_key } of await db.selectFrom('companies').selectAll().execute())
    assert.equal(website_key, website && websiteKey(website))
  for (const { record_id, field, value } of await db.selectFrom('field_values').selectAll().execute()) {
    const text = one(texts, record_id)
    assert.equal(value, indexedValue(sameText(field === 'tags' ? text : `${text} ${record_id}`)))
  }
  for (const { record_id, unique_value } of await db.selectFrom('defined_values').selectAll().execute())
    assert.equal(unique_value, uniqueValue('text', `${one(texts, record_id)} ${record_id}`))
  const merged = await db
    .selectFrom('merged_values')
    .select(['field', 'value', 'record_id'])
    .orderBy('record_id')
    .orderBy('field')
    .execute()
  assert.deepEqual(
    merged.map(({ field, value, record_id }) => ({ field, value, record_id })),
    [10, 20].flatMap((record_id) => [
      { field: 'name', value: sameName(one(texts, record_id)), record_id },
      { field: 'website', value: websiteKey(one(websites, record_id)), record_id },
    ]),
  )
})

test('of two unique values that are the same now, both records keep theirs', async (t) => {
  const folder = scratchFolder(t)
  await settingsOf(folder, { migrated: false })
  const database = await useFor(t, openScratch(folder))
  const { db } = database
  await migrate(database, migrations.slice(0, before))
  await transaction(db, async (tx) => {
    await sql`INSERT INTO field_definitions (id, workspace_id, kind, key, label, type, options, is_required, is_unique, position,
      created_at, updated_at, status) VALUES (1, 1, 'companies', 'code', 'Code', 'text', '[]', 0, 1, 1, '', '', 'ready')`.execute(
      tx,
    )
    for (const [n, code] of ['Café', 'Cafe\u0301'].entries()) {
      await sql`INSERT INTO companies (id, workspace_id, name, custom_fields, created_at, updated_at)
        VALUES (${n + 1}, 1, 'x', ${JSON.stringify({ code })}, '', '')`.execute(tx)
      await sql`INSERT INTO defined_values (workspace_id, definition_id, record_id, sort_value, unique_value)
        VALUES (1, 1, ${n + 1}, 'cafe', ${code})`.execute(tx)
    }
  })
  await migrate(database)
  const values = await db.selectFrom('defined_values').select('unique_value').orderBy('record_id').execute()
  assert.deepEqual(
    values.map(({ unique_value }) => unique_value),
    ['Café', 'Cafe\u0301'],
  )
})
