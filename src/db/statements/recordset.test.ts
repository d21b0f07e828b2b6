// runs: both
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { type Outbox, openOutbox } from '../../../test/outbox.ts'
import { transaction } from '../db.ts'
import { prepareRows, recordset, rowsOf, storable } from './recordset.ts'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

const columns = { place: 'bigint!', name: 'text!', value: 'text', number: 'bigint' } as const
type Row = { place: number; name: string; value: string | null; number: number | null }

// Every text that could be taken for something else on its way.
const texts = [
  '',
  ' ',
  '\n\r\t',
  '"',
  "'",
  '\\',
  '\\u0000',
  '$1',
  '?',
  'null',
  '[1]',
  '{"a":1}',
  '1e3',
  '007',
  'né',
  '🎉',
  '\u2028',
]
const rows: Row[] = texts.map((value, place) => ({ place, name: `n${place}`, value, number: null }))
rows.push({ place: rows.length, name: 'none', value: null, number: 2 ** 52 })

const insert = prepareRows(columns, ({ row, values }, p: { more: number }) => {
  const number = sql`CAST(CAST(${row.number} + ${p.more} AS bigint) AS text)`
  const value = sql`coalesce(${row.value}, 'number ' || ${number})`
  return sql`INSERT INTO settings (name, value) ${values([row.name, value])}`
})
const read = prepareRows(
  { name: 'text!' },
  ({ row, rows }) => sql<{ name: string; value: string }>`
      SELECT s.name, s.value FROM ${rows('first')} settings AS s WHERE s.name = ${row.name}`,
)

test('given rows arrive byte for byte, however many they are, in a transaction and outside of one', async () => {
  const { db } = outbox
  for (const some of [[], rows.slice(0, 1), rows.slice(1)])
    await transaction(db, (tx) => insert(tx, some, { more: 1 }))
  for (const at of [db, null]) {
    const found = at ? await read(at, rows, {}) : await transaction(db, (tx) => read(tx, rows, {}))
    const values = new Map(found.map(({ name, value }) => [name, value]))
    assert.equal(found.length, rows.length)
    for (const { name, value } of rows) assert.equal(values.get(name), value ?? `number ${2 ** 52 + 1}`)
  }
  assert.deepEqual(await read(db, [], {}), [])
})

test('many given rows arrive once each, in however many statements', async () => {
  const { db } = outbox
  const value = (place: number) => ({ place, name: `many${place}`, value: `value ${place}`, number: null })
  const many = Array.from({ length: 127 }, (_, place) => value(place))
  await transaction(db, (tx) => insert(tx, many, { more: 1 }))
  const found = await read(db, many, {})
  assert.deepEqual(
    found.map((row) => ({ ...row })).sort((a, b) => (a.name < b.name ? -1 : 1)),
    many.map(({ name, value }) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
})

test('rows as one parameter arrive byte for byte too', async () => {
  const { db } = outbox
  const given = recordset(db, rowsOf(columns, rows), columns)
  const { rows: found } = await sql<Row>`SELECT * FROM ${given} AS r ORDER BY place`.execute(db)
  assert.deepEqual(
    found.map((row) => ({ ...row })),
    rows,
  )
})

test('what no database stores is replaced, and nothing else', () => {
  assert.equal(storable('a\0b\0'), 'a\ufffdb\ufffd')
  assert.equal(storable('\ud83c'), '\ufffd')
  for (const text of texts) assert.equal(storable(text), text)
})
