// runs: long
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine } from '../../../test/engine.ts'
import { client } from '../../../test/harness.ts'
import { ended, upload } from '../../../test/imports.ts'
import { runRapport, scratchFolder, serveProcess } from '../../../test/process.ts'
import { until } from '../../../test/webhooks.ts'

// PostgreSQL imports more slowly while other tests run.
const rows = engine === 'sqlite' ? 15_000 : 6000
const kills = 3

test('an import whose process is killed goes on behind its last commit, and every row comes once', async (t) => {
  const env = { DATA_DIR: scratchFolder(t), RATE_LIMIT_PER_SECOND: '0' }
  const { last: key } = await runRapport(['keys', 'create', '--name', 'Import'], env)
  const file = `name,address\n${Array.from({ length: rows }, (_, n) => `Row ${n},${n}`).join('\n')}\n`
  let server = await serveProcess(t, env)
  const { body } = await upload({ url: server.url, key }, '?resource=companies', file)
  const { id } = body.data
  for (let kill = 1; kill <= kills; kill++) {
    const call = client(server.url, key)
    const at = (rows / (kills + 1)) * kill
    await until(
      () => call('GET', `/api/v1/imports/${id}`),
      (reply) => reply.body.data.rows_read >= at,
    )
    server.signal('SIGKILL')
    await server.exited
    server = await serveProcess(t, env)
  }
  const call = client(server.url, key)
  const done = await until(
    () => ended({ call }, id),
    ({ status }) => status !== 'running',
  )
  assert.deepEqual([done.status, done.rows_read, done.created, done.failed], ['succeeded', rows, rows, 0])
  const { text, headers } = await call('GET', '/api/v1/companies/export?format=ndjson')
  assert.equal(headers.get('x-total-count'), String(rows))
  const addresses = text
    .trimEnd()
    .split('\n')
    .map((line) => Number(JSON.parse(line).address))
  assert.deepEqual(
    addresses.sort((a, b) => a - b),
    Array.from({ length: rows }, (_, n) => n),
  )
  await server.stop()
})
