import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '../../test/engine.ts'
import { startRapport } from '../../test/harness.ts'
import { importFile } from '../../test/imports.ts'

// Several parts on SQLite. PostgreSQL runs each row in a savepoint, which is slow beside other tests.
const count = engine === 'sqlite' ? 250 : 75

test('rows that fail after they wrote, all over a file, are reported, and all others are imported once', async (t) => {
  const rapport = await startRapport()
  t.after(() => rapport.close())
  const defined = { resource: 'contacts', key: 'badge', type: 'number', unique: true }
  assert.equal((await rapport.call('POST', '/api/v1/custom-fields', defined)).status, 201)
  // Each 25th row has the badge of the row before.
  const badge = (n: number) => (n % 25 === 24 ? n - 1 : n)
  const rows = Array.from({ length: count }, (_, n) => `Row,${n},${badge(n)}`)
  const file = `first_name,last_name,custom_fields.badge\n${rows.join('\n')}\n`
  const done = await importFile(rapport, { resource: 'contacts' }, file)
  assert.deepEqual(
    [done.status, done.message, done.rows_read, done.created, done.failed, done.errors],
    ['succeeded', null, count, (count * 24) / 25, count / 25, count / 25],
  )
  const { text } = await rapport.call('GET', '/api/v1/contacts/export?format=ndjson')
  const imported = text.split('\n').flatMap((line) => (line ? [Number(JSON.parse(line).last_name)] : []))
  assert.deepEqual(
    imported.sort((a, b) => a - b),
    Array.from({ length: count }, (_, n) => n).filter((n) => n % 25 !== 24),
  )
  const errors = (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text
  const failed = errors.trim().split('\r\n').slice(1)
  assert.deepEqual(
    failed.map((line) => Number(line.split(',')[0])),
    Array.from({ length: count / 25 }, (_, n) => n * 25 + 26),
  )
})
