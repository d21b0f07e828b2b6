import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Migration, migrate } from '../src/db/migrate.ts'
import { migrations } from '../src/db/migrations/index.ts'
import { tablesOf } from '../src/move/tables.ts'
import { resources } from '../src/resources/index.ts'
import { openScratch, removeScratch, settingsOf } from './engine.ts'
import { client, startRapport } from './harness.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { runRapport } from './run-rapport.ts'
import { type Requests, startRequests } from './valid-requests.ts'
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

/** What a process of another version does at its start. */
async function migrateWith(data_dir: string, more: Migration[]): Promise<string[]> {
  const database = await openScratch(data_dir)
  try {
    return await migrate(database, [...migrations, ...more])
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
    assert.ok([200, 201].includes(reply.status), `${operation.name}: ${reply.status} ${reply.text}`)
  }
}

test('a process that runs goes on beside the expand migrations of a newer version, and one that starts serves too', async (t) => {
  const data_dir = await scratch(t)
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const rapport = await startRapport({ data_dir })
  const requests = await startRequests(rapport)
  const hook = await register(rapport.call, { url: receiver.url })
  // Every statement is prepared with the tables as they are.
  await sendAll(requests)
  assert.deepEqual(await migrateWith(data_dir, [expand]), ['9998_more'])
  await sendAll(requests)
  await received(receiver, await company(rapport.call, 'Made by the process that ran'))
  await rapport.close()

  const restarted = await startRapport({ data_dir })
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
