import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { databaseFile } from '../../src/db/engines/sqlite/open.ts'
import { startRapport } from '../harness.ts'

test('an erasure leaves no part of a name in the index of the search, former names included', async (t) => {
  const rapport = await startRapport()
  t.after(() => rapport.close())
  const { call } = rapport
  const path = '/api/v1/contacts'
  const others = Array.from({ length: 50 }, (_, n) => ({ first_name: `Ana ${n}`, last_name: 'Ruiz' }))
  for (const body of [{ first_name: 'Qxwjk', last_name: 'Vzzqx' }, ...others]) await call('POST', path, body)
  await call('PUT', `${path}/1`, { last_name: 'Kjjwv' })
  const parts = () => {
    const database = new DatabaseSync(databaseFile(rapport.data_dir), { readOnly: true })
    const blocks = database.prepare('SELECT block FROM contacts_search_data').all()
    database.close()
    const text = Buffer.concat(blocks.map(({ block }) => Buffer.from(block as Uint8Array))).toString('latin1')
    return ['qxw', 'zzq', 'jjw'].filter((part) => text.includes(part))
  }
  assert.notDeepEqual(parts(), [])
  await call('DELETE', `${path}/1`)
  assert.equal((await call('DELETE', '/api/v1/trash/contacts/1')).status, 200)
  assert.deepEqual(parts(), [])
  assert.equal((await call('GET', `${path}?search=ana+ruiz`)).body.meta.total, 50)
})
