import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import pg from 'pg'
import { createDatabase, startPostgres } from '../postgres.ts'
import { until } from '../webhooks.ts'

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('the server of the tests comes back from a crash at the same address, with what was committed', async (t) => {
  const server = await startPostgres({ fsync: true })
  t.after(server.stop)
  const url = await createDatabase(server.url, 'kept')
  await query(url, 'CREATE TABLE kept AS SELECT 7 AS n')
  await server.halt('immediate')
  await assert.rejects(query(url, 'SELECT 1'), { code: 'ECONNREFUSED' })
  await server.start()
  assert.deepEqual(await query(url, 'SELECT n FROM kept'), [{ n: 7 }])
  assert.equal(await createDatabase(server.url, 'kept'), url, 'a database that is there is left as it is')
  assert.deepEqual(await query(url, 'SHOW fsync'), [{ fsync: 'on' }])
})

test('a test process that is killed leaves no server and no folder behind', async () => {
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL('../postgres.ts', import.meta.url))}
    const { url, folder } = await startPostgres()
    console.log(JSON.stringify({ url, folder }))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [told] = await once(child.stdout, 'data')
  const { url, folder } = JSON.parse(told)
  await query(url, 'SELECT 1')
  assert.ok(existsSync(folder))
  child.kill('SIGKILL')
  await until(
    async () => existsSync(folder),
    (there) => !there,
  )
  await assert.rejects(query(url, 'SELECT 1'), { code: 'ECONNREFUSED' })
})
