// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { troubleOf } from '../src/db/errors.ts'
import { lock_waits, type Migration, migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { tablesOf } from '../src/move/tables.ts'
import { resources } from '../src/resources/index.ts'
import { engine, openScratch, removeScratch, settingsOf } from './engine.ts'
import { client, startRapport } from './harness.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { runRapport } from './run-rapport.ts'
import { useFor } from './use.ts'
import { type Requests, request_env, startRequests } from './valid-requests.ts'
import { company, register } from './webhooks.ts'

// The program of these tests is the older version: the newer one has a migration more.

// Columns in every table, a table, and an index.
const expand: Migration = {
  name: '9998_more',
  kind: 'expand',
  statements: () => [
    ...tablesOf(resources).flatMap(({ name }) => [
      `ALTER TABLE ${name} ADD COLUMN more_text text`,
      `ALTER TABLE ${name} ADD COLUMN more_number bigint NOT NULL DEFAULT 0`,
    ]),
    'CREATE TABLE more (workspace_id bigint NOT NULL, id bigint NOT NULL, PRIMARY KEY (workspace_id, id))',
    'CREATE INDEX contacts_more ON contacts (workspace_id, more_text, id)',
  ],
}
const contract: Migration = {
  name: '9999_less',
  kind: 'contract',
  statements: () => ['ALTER TABLE contacts DROP COLUMN title'],
}

async function scratch(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(folder, { migrated: false })
  t.after(() => removeScratch(folder))
  return folder
}

/** The start of a process of another version. */
async function migrateWith(
  data_dir: string,
  more: Migration[],
  options?: Parameters<typeof migrate>[2],
): Promise<string[]> {
  const database = await openScratch(data_dir)
  try {
    return await migrate(database, [...migrations, ...more], options)
  } finally {
    await database.close()
  }
}

const received = (receiver: Receiver, { name }: { name: string }) =>
  receiver.waitFor((all) => all.some(({ body }) => body.includes(name)))

async function sendAll(requests: Requests): Promise<void> {
  for (const operation of requests.operations) {
    if (operation.name === 'post /setup') continue
    const reply = await requests.send(await requests.request(operation))
    assert.ok([200, 201, 202].includes(reply.status), `${operation.name}: ${reply.status} ${reply.text}`)
  }
}

test('a process that runs goes on beside the expand migrations of a newer version, and one that starts serves too', async (t) => {
  const data_dir = await scratch(t)
  const receiver = await useFor(t, startReceiver())
  const rapport = await startRapport({ data_dir, env: request_env })
  const requests = await startRequests(rapport)
  const hook = await register(rapport.call, { url: receiver.url })
  // Every statement is prepared with the tables as they are.
  await sendAll(requests)
  assert.deepEqual(await migrateWith(data_dir, [expand]), ['9998_more'])
  await sendAll(requests)
  await received(receiver, await company(rapport.call, 'Made by the process that ran'))
  await rapport.close()

  const restarted = await startRapport({ data_dir, env: request_env })
  t.after(() => restarted.close())
  const call = client(restarted.url, rapport.key)
  await received(receiver, await company(call, 'Made by the process that started'))
  const { body } = await call('GET', '/api/v1/companies?search=process')
  assert.equal(body.meta.total, 2)
  await receiver.verify(hook.secret)
  const { code, stdout } = await runRapport(['upgrade', '--check'], { DATA_DIR: data_dir })
  assert.equal(code, 0)
  assert.match(stdout, /^Database {2}migrations up to 9998_more$/m)
  assert.match(stdout, /^A newer version has only added to the database/m)
})

/** A session that reads a table in an open transaction, as pg_dump does, until `end`. */
async function reading(t: TestContext, data_dir: string, table: string) {
  const { DATABASE_URL: connectionString } = await settingsOf(data_dir)
  const session = new pg.Client({ connectionString })
  await session.connect()
  // The end of the test drops the database first, and with it the session.
  session.on('error', () => {})
  t.after(() => session.end())
  await session.query('BEGIN')
  await session.query(`LOCK TABLE ${table} IN ACCESS SHARE MODE`)
  return { end: () => session.query('COMMIT') }
}

/** Resolves when a migration waits for a table. */
async function waitsForTable(data_dir: string): Promise<void> {
  const { DATABASE_URL: connectionString } = await settingsOf(data_dir)
  const session = new pg.Client({ connectionString })
  await session.connect()
  const waiting = `SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  while ((await session.query(waiting)).rowCount === 0) await pause(20)
  await session.end()
}

// Without a limit of the waits, these tests would not end.
const on_postgres = { skip: engine === 'sqlite' && 'SQLite has no table locks', timeout: 120_000 }

test(
  'writes succeed while an expand migration waits for a table that another session reads',
  on_postgres,
  async (t) => {
    const data_dir = await scratch(t)
    const rapport = await startRapport({ data_dir, env: request_env })
    t.after(() => rapport.close())
    const reader = await reading(t, data_dir, 'companies')
    const told: string[] = []
    const migrated = migrateWith(data_dir, [expand], {
      onWait: ({ message }) => told.push(message),
      waits: { ...lock_waits, pause_ms: 100 },
    })
    // In the queue behind two tries: without a timeout, the write would get 503 after 5 s.
    for (const name of ['First', 'Second']) {
      await waitsForTable(data_dir)
      await company(rapport.call, name)
    }
    await reader.end()
    assert.deepEqual(await migrated, ['9998_more'])
    assert.equal(told.length, 1)
    assert.match(
      told[0] ?? '',
      /^The migration 9998_more waits for a table that another session uses, .*: ALTER TABLE companies ADD COLUMN more_text text$/,
    )
  },
)

test(
  'an expand migration that never gets its table ends with an error that no start repeats',
  on_postgres,
  async (t) => {
    const data_dir = await scratch(t)
    await migrateWith(data_dir, [])
    await reading(t, data_dir, 'companies')
    const waits = { timeout_ms: 100, pause_ms: 10, tries: 3 }
    await assert.rejects(migrateWith(data_dir, [expand], { waits }), (error: Error) => {
      assert.match(error.message, /9998_more waits for a table .* It tried 3 times\. End that session/)
      assert.equal(troubleOf(error), null)
      return true
    })
    assert.deepEqual(await migrateWith(data_dir, []), [])
  },
)

test('a start, a command and a check of an older version refuse a contract migration of a newer one', async (t) => {
  const data_dir = await scratch(t)
  await migrateWith(data_dir, [expand, contract])
  const told =
    /The database is from a newer version: it has the migration 9999_less, and this version cannot run beside it\. Start that version, or restore a backup\./
  await assert.rejects(startRapport({ data_dir }), told)
  for (const words of [['keys', 'list'], ['upgrade'], ['upgrade', '--check']]) {
    const { code, stderr } = await runRapport(words, { DATA_DIR: data_dir })
    assert.equal(code, 1)
    assert.match(stderr, told)
  }
})

test('a move of a database with more columns than this version knows is refused', async (t) => {
  const [data_dir, target] = [await scratch(t), await scratch(t)]
  await migrateWith(data_dir, [expand])
  const { DATABASE_URL: from = `sqlite:${data_dir}` } = await settingsOf(data_dir)
  const { code, stderr } = await runRapport(['move', '--from', from, '--to', `sqlite:${target}`], {
    DATA_DIR: data_dir,
  })
  assert.equal(code, 1)
  assert.match(stderr, /from a newer version: it has the migration 9998_more\. Move it with that version\./)
})
