import assert from 'node:assert/strict'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { client, startRapport } from '../../../../test/harness.ts'
import { scratchFolder } from '../../../../test/process.ts'
import { databaseFile } from './open.ts'

test('the database is a file that its owner alone can read', async (t) => {
  const data_dir = scratchFolder(t)
  await (await startRapport({ data_dir })).close()
  assert.equal(statSync(databaseFile(data_dir)).mode & 0o777, 0o600)
})

test('a start on a file that is no database fails and leaves nothing open', async (t) => {
  const data_dir = scratchFolder(t)
  const file = databaseFile(data_dir)
  writeFileSync(file, 'this is no database, and long enough to be told from one')
  await assert.rejects(startRapport({ data_dir }), /not a database/)
  rmSync(file)
  await (await startRapport({ data_dir })).close()
})

test('metrics tell how many writes share a commit', async (t) => {
  const rapport = await startRapport()
  t.after(rapport.close)
  await rapport.call('POST', '/api/v1/companies', { name: 'Acme' })
  const { text } = await client(rapport.url, null)('GET', '/metrics')
  assert.match(text, /^rapport_commit_group_size_count [1-9]/m)
})
