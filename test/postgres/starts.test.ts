import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import pg from 'pg'
import { migrations } from '../../src/db/migrations/index.ts'
import { readStored } from '../database.ts'
import { settingsOf } from '../engine.ts'
import { client } from '../harness.ts'
import { command } from '../postgres.ts'
import { firstKey, main, runRapport, scratchFolder, serveProcess } from '../process.ts'
import { unlessBusy, until } from '../webhooks.ts'
import { emptyDatabase } from './moves.ts'

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
  const settings = await rows('SELECT name FROM settings ORDER BY name')
  // The sign of life, the key of links in mails, the sample of the secret key, and the set-up link.
  assert.deepEqual(
    settings.map(({ name }) => name),
    ['clock', 'mac', 'seal', 'setup_link'],
  )
  for (const table of ['workspaces', 'api_keys'])
    assert.deepEqual(await rows(`SELECT count(*) AS n FROM ${table}`), [{ n: 1 }], table)
  for (const { url } of services) {
    const call = client(url, key)
    const headers = { 'idempotency-key': url }
    const made = await unlessBusy(() => call('POST', '/api/v1/companies', { name: 'Acme' }, headers))
    assert.equal(made.status, 201, made.text)
  }
  const [{ url } = { url: '' }] = services
  assert.equal((await client(url, key)('GET', '/api/v1/companies')).body.meta.total, 10)
  assert.deepEqual(await Promise.all(services.map((service) => service.stop())), Array(10).fill(0))
})

test('a database that cannot become an installation is refused with what to do, and stays as it is', async (t) => {
  const url = await emptyDatabase(t)
  const role = `guest_${process.pid}`
  await command(url, `CREATE ROLE ${role}`)
  const other = await emptyDatabase(t)
  await command(other, 'CREATE TABLE settings (other integer)')
  const withOption = (option: string, at = url) => `${at}?options=${encodeURIComponent(`-c ${option}`)}`
  const as = (at: string) => withOption(`role=${role}`, at)
  const restored = await emptyDatabase(t)
  await command(
    restored,
    `CREATE TABLE schema_migrations (name text); GRANT CREATE ON SCHEMA public TO ${role}`,
  )
  t.after(() => command(restored, `DROP OWNED BY ${role}; DROP ROLE ${role}`))
  for (const [DATABASE_URL, told] of [
    [as(url), /permission denied for schema public\. Make the role .* the owner of the database: ALTER/],
    [
      as(restored),
      /permission denied for table \w+\. Another role owns the tables\. Restore them .* or run: REASSIGN/,
    ],
    [withOption('default_transaction_read_only=on'), /read-only transaction\. Give the URL of a server/],
    [other, /"settings" already exists\. The database has tables of another program\. Create an empty one/],
  ] as const) {
    const DATA_DIR = scratchFolder(t)
    const { code, stderr } = await runRapport(['migrate'], { DATA_DIR, DATABASE_URL })
    assert.equal(code, 1, stderr)
    assert.match(stderr, told)
  }
  await command(other, 'SELECT other FROM settings')
  await command(url, 'CREATE TABLE settings (nothing integer)')
})

test('a crash during the commit of the first key does not lose it: the file has the key', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const { DATABASE_URL = '' } = await settingsOf(DATA_DIR)
  const other = new pg.Client({ connectionString: DATABASE_URL })
  await other.connect()
  t.after(() => other.end())
  // The commit waits until this connection has closed its transaction.
  await other.query(`
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END';
    CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON api_keys DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION wait()`)
  await other.query('BEGIN; SELECT pg_advisory_xact_lock(1)')
  const env = { PATH: process.env.PATH, DATA_DIR, DATABASE_URL, PORT: '0' }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await until(
    () =>
      other.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
    { rowCount: 1 },
  )
  child.kill('SIGKILL')
  await once(child, 'exit')
  await other.query('COMMIT')
  await until(() => other.query('SELECT FROM api_keys'), { rowCount: 1 })
  const { url } = await serveProcess(t, { DATA_DIR })
  assert.equal((await client(url, firstKey(DATA_DIR))('GET', '/api/v1/contacts')).status, 200)
})
