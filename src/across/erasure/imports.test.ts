import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStored } from '../../../test/database.ts'
import { dataOf } from '../../../test/envelope.ts'
import { useRapport } from '../../../test/harness.ts'
import { importFile } from '../../../test/imports.ts'

const rapport = useRapport()

const ok = async (method: string, path: string, body?: object) =>
  dataOf(await rapport.call(method, `/api/v1${path}`, body))
const erase = async (id: number) => {
  await ok('DELETE', `/contacts/${id}`)
  await ok('DELETE', `/trash/contacts/${id}`)
}

test('an erasure empties failed rows of imports with an address that the contact has or had, and no others', async () => {
  const { id } = await ok('POST', '/contacts', {
    first_name: 'Zoë',
    last_name: 'Quørn',
    email: 'Old.Quorn@Quux.example',
    phone: '+49 (30) 555-71 71',
    mobile: '12',
  })
  await ok('PUT', `/contacts/${id}`, { email: 'new.quorn@quux.example' })
  const rows = [
    'Zoë,,OLD.quorn@quux.example,',
    'Zoë,,new.quorn@quux.example,',
    'Zoë,,,030/5557171',
    'Zoë,,,+49 30 55571 71',
    'Ana,,ana@quux.example,12',
  ]
  const file = `first_name,last_name,email,phone\n${rows.join('\n')}\n${'Bo,,,\n'.repeat(300)}Zoë,,new.quorn@quux.example,\n`
  const done = await importFile(rapport, { resource: 'contacts' }, file)
  assert.equal(done.failed, 306)
  const errors = async () =>
    (await rapport.call('GET', `/api/v1/imports/${done.id}/errors`)).text.split('\r\n')
  const before = await errors()
  await erase(id)
  const lines = await errors()
  const is_changed = lines.map((line, n) => line !== before[n])
  const changed = lines.filter((_, n) => is_changed[n])
  assert.deepEqual(changed, [
    '2,last_name,This row was erased.,,erased',
    '3,last_name,This row was erased.,,erased',
    '5,last_name,This row was erased.,,erased',
    '307,last_name,This row was erased.,,erased',
  ])
  const stored = await readStored(rapport.data_dir)
  const kept = JSON.stringify(await stored.rows('SELECT * FROM import_errors'))
  await stored.close()
  for (const trace of [/old\.quorn/i, /new\.quorn/i, /4930 ?55571/, /\+49 30/])
    assert.doesNotMatch(kept, trace)
})

test('an erasure removes what the undo of an import would put back', async () => {
  const { id } = await ok('POST', '/contacts', {
    first_name: 'Ida',
    last_name: 'Private',
    email: 'ida@quux.example',
    title: 'Secret title',
  })
  const options = { resource: 'contacts', on_match: 'update', match: 'email' }
  const done = await importFile(rapport, options, 'email,title\nida@quux.example,Other\n')
  assert.equal(done.updated, 1)
  await erase(id)
  const stored = await readStored(rapport.data_dir)
  const kept = JSON.stringify(await stored.rows('SELECT * FROM import_changes'))
  await stored.close()
  assert.doesNotMatch(kept, /Secret title/)
})
