import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { readConfig } from '../../src/config.ts'
import { durabilityProblems } from '../../src/db/durability.ts'
import { openDatabase } from '../../src/db/open.ts'
import { startService } from '../faults/service.ts'
import { client } from '../harness.ts'
import { command, createDatabase, startPostgres } from '../postgres.ts'
import { scratchFolder } from '../process.ts'

/** A setting, as the connections that serve have it. */
async function servedWith(DATABASE_URL: string, setting: string) {
  const database = await openDatabase(readConfig({ DATABASE_URL }))
  // Several at once, each on a connection of its own.
  const values = await Promise.all(
    [1, 2, 3].map(() =>
      sql<{ value: string }>`SELECT current_setting(${setting}) AS value, pg_sleep(0.1)`.execute(database.db),
    ),
  )
  const problems = await durabilityProblems(database)
  await database.close()
  return { values: values.map(({ rows }) => rows[0]?.value), problems }
}

test('the service commits synchronously on a server with asynchronous commits; stricter settings stay', async (t) => {
  const server = await startPostgres({ fsync: true, settings: { synchronous_commit: 'off' } })
  t.after(() => server.stop())
  const url = await createDatabase(server.url, 'durability')
  const found = await servedWith(url, 'synchronous_commit')
  assert.deepEqual(found, { values: ['on', 'on', 'on'], problems: [] })
  for (const value of ['remote_apply', 'remote_write', 'local', 'on']) {
    await command(url, `ALTER DATABASE durability SET synchronous_commit = ${value}`)
    assert.deepEqual((await servedWith(url, 'synchronous_commit')).values, [value, value, value])
  }
})

for (const [setting, of_server] of [
  ['fsync', { fsync: 'off' }],
  ['full_page_writes', { full_page_writes: 'off' }],
] as const)
  test(`a server with ${setting} = off is told in the log and in /metrics, and the service serves`, async (t) => {
    const server = await startPostgres({ fsync: true, settings: of_server })
    t.after(() => server.stop())
    const DATABASE_URL = await createDatabase(server.url, 'durability')
    const service = await startService(scratchFolder(t), { env: { DATABASE_URL } })
    t.after(() => service.end('SIGKILL'))
    assert.match(service.log().join('\n'), new RegExp(`PostgreSQL runs with ${setting} = off`))
    const { text } = await client(service.url, null)('GET', '/metrics')
    assert.match(text, /^rapport_database_durable 0$/m)
    assert.equal((await service.call('POST', '/api/v1/companies', { name: 'Acme' })).status, 201)
  })
