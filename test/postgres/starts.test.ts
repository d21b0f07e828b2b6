import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrations } from '../../src/db/migrations/index.ts'
import { readStored } from '../database.ts'
import { settingsOf } from '../engine.ts'
import { client } from '../harness.ts'
import { firstKey, scratchFolder, serveProcess } from '../process.ts'

test('ten processes that start at once on an empty database make one installation, and all of them serve it', async (t) => {
  const DATA_DIR = scratchFolder(t)
  await settingsOf(DATA_DIR, { migrated: false })
  const starts = Array.from({ length: 10 }, () => serveProcess(t, { DATA_DIR, LOG_LEVEL: 'error' }))
  const services = await Promise.all(starts)
  const named = services.filter(({ output }) => output().includes('first-api-key.txt'))
  assert.equal(named.length, 1, 'one of them names the file of the key')
  const key = firstKey(DATA_DIR)
  const { rows, close } = await readStored(DATA_DIR)
  t.after(close)
  assert.deepEqual(
    (await rows('SELECT name FROM schema_migrations ORDER BY name')).map(({ name }) => name),
    migrations.map(({ name }) => name),
  )
  const settings = await rows("SELECT name FROM settings WHERE name NOT IN ('setup_link', 'clock')")
  assert.equal(settings.length, 1)
  const all = await rows('SELECT name FROM settings')
  assert.equal(all.length, 3, 'beside it one set-up link and one sign of life')
  for (const table of ['workspaces', 'api_keys'])
    assert.deepEqual(await rows(`SELECT count(*) AS n FROM ${table}`), [{ n: 1 }], table)
  for (const { url } of services) {
    const call = client(url, key)
    assert.equal((await call('POST', '/api/v1/companies', { name: 'Acme' })).status, 201)
  }
  const [{ url } = { url: '' }] = services
  assert.equal((await client(url, key)('GET', '/api/v1/companies')).body.meta.total, 10)
  assert.deepEqual(await Promise.all(services.map((service) => service.stop())), Array(10).fill(0))
})
