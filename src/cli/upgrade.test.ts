// runs: both
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { engine, openScratch, removeScratch, settingsOf } from '../../test/engine.ts'
import { runRapport } from '../../test/run-rapport.ts'
import { transaction } from '../db/db.ts'
import { writeBackup } from '../db/engines/sqlite/backup.ts'
import { databaseFile } from '../db/engines/sqlite/open.ts'
import { type Migration, migrate, planMigrations } from '../db/migrate.ts'
import { migrations } from '../db/migrations/index.ts'

/** A folder whose database has the migrations before one of a name; none for the first. */
const databaseBefore = (t: TestContext, name: string) =>
  databaseWith(
    t,
    migrations.filter((one) => one.name < name),
  )

async function databaseWith(t: TestContext, before: readonly Migration[]): Promise<string> {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  t.after(() => removeScratch(data_dir))
  await settingsOf(data_dir, { migrated: false })
  if (before.length === 0) return data_dir
  const database = await openScratch(data_dir)
  await migrate(database, before)
  await database.close()
  return data_dir
}

async function pendingIn(data_dir: string): Promise<string[]> {
  const database = await openScratch(data_dir)
  try {
    return (await planMigrations(database.db)).pending.map(({ name }) => name)
  } finally {
    await database.close()
  }
}

const contacts = (count: number) => sql`
  INSERT INTO contacts (workspace_id, first_name, last_name, search_text, created_at, updated_at)
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
  SELECT 1, 'A', 'B', 'a b', '', '' FROM numbers`

const newest = migrations.at(-1)?.name

test('upgrade --check of no database says so and creates nothing', async (t) => {
  const DATA_DIR = await databaseBefore(t, '0001')
  const { code, stdout } = await runRapport(['upgrade', '--check'], { DATA_DIR })
  assert.equal(code, 3)
  assert.match(stdout, /^Database {2}none yet$/m)
  for (const { name } of migrations) assert.ok(stdout.includes(name))
  assert.ok(!existsSync(databaseFile(DATA_DIR)))
})

test('upgrade --check shows the expand migrations that would run beside older processes, and runs none', async (t) => {
  const missing = '0043_import_accounts'
  const DATA_DIR = await databaseWith(
    t,
    migrations.filter(({ name }) => name !== missing),
  )
  const { code, stdout } = await runRapport(['upgrade', '--check'], { DATA_DIR })
  assert.equal(code, 3)
  assert.match(stdout, new RegExp(`^Program {3}\\d+\\.\\d+\\.\\d+, migrations up to ${newest}$`, 'm'))
  assert.match(stdout, new RegExp(`^Database {2}migrations up to ${newest}$`, 'm'))
  assert.match(stdout, new RegExp(`^${missing} +expand +at most 1 s$`, 'm'))
  assert.match(stdout, /^Servers: +processes of the version before can keep running/m)
  assert.match(stdout, engine === 'sqlite' ? /^Disk: .* MB are free in /m : /^Backup: .*pg_dump/m)
  assert.deepEqual(await pendingIn(DATA_DIR), [missing])
})

test('upgrade --check says that a contract migration needs the older processes stopped, and what takes long', async (t) => {
  const DATA_DIR = await databaseBefore(t, '0038')
  const database = await openScratch(DATA_DIR)
  // One statement of a busy server may not take longer than 30 s.
  for (let part = 0; part < 8; part++) await transaction(database.db, (tx) => contacts(5_000).execute(tx))
  await database.close()
  const { code, stdout } = await runRapport(['upgrade', '--check'], { DATA_DIR })
  assert.equal(code, 3)
  assert.match(stdout, /^0038_equal_characters +contract +about 2 s, for 40000 rows of contacts, /m)
  assert.match(stdout, /^Servers: +stop all processes of older versions first/m)
})

test('upgrade --check leaves a backup, a folder without a server and one with a server byte for byte', async (t) => {
  if (engine === 'postgres') return t.skip('the check only runs SELECT')
  const data_dir = await databaseBefore(t, '0038')
  const DATA_DIR = await databaseBefore(t, '0001')
  const file = databaseFile(DATA_DIR)
  const bytes = () => readdirSync(DATA_DIR).map((name) => [name, readFileSync(join(DATA_DIR, name))])
  const check = async () => {
    const before = bytes()
    const { code, stdout } = await runRapport(['upgrade', '--check'], { DATA_DIR })
    assert.equal(code, 3)
    assert.match(stdout, /^Database {2}migrations up to 0037_baseline$/m)
    return { before, after: bytes() }
  }
  writeBackup(data_dir, file, false)
  const { before, after } = await check()
  assert.deepEqual(after, before, 'a backup, without a write-ahead log')

  copyFileSync(databaseFile(data_dir), file)
  const stopped = await check()
  assert.deepEqual(stopped.after, stopped.before, 'with a write-ahead log when it is served')

  const database = await openScratch(DATA_DIR)
  await transaction(database.db, (tx) => contacts(1).execute(tx))
  const served = await check()
  await database.close()
  const kept = (files: typeof before) => files.filter(([name]) => !String(name).endsWith('-shm'))
  assert.ok(kept(served.before).length > 1)
  assert.deepEqual(kept(served.after), kept(served.before), 'but for the locks in memory')
})

test('upgrade runs the migrations, with a backup of the old schema first, and then has nothing to do', async (t) => {
  const DATA_DIR = await databaseBefore(t, '0043')
  const backup = join(DATA_DIR, 'before.db')
  const words = engine === 'sqlite' ? ['--backup', backup] : []
  const { code, stdout } = await runRapport(['upgrade', ...words], { DATA_DIR })
  assert.equal(code, 0, stdout)
  assert.match(stdout, /^Ran 0043_import_accounts\.$/m)
  assert.deepEqual(await pendingIn(DATA_DIR), [])
  if (engine === 'sqlite') {
    assert.match(stdout, /^Wrote .*before\.db$/m)
    const copy = new DatabaseSync(backup, { readOnly: true })
    const { name } = copy.prepare('SELECT max(name) AS name FROM schema_migrations').get() ?? {}
    copy.close()
    assert.equal(name, '0042_work')
  }
  const checked = await runRapport(['upgrade', '--check'], { DATA_DIR })
  assert.deepEqual([checked.code, checked.last], [0, 'The database is up to date.'])
  const again = await runRapport(['upgrade'], { DATA_DIR })
  assert.deepEqual([again.code, again.stdout], [0, 'The database is up to date.'])
})

test('upgrade --backup writes a backup of a database that is up to date, and overwrites none', async (t) => {
  if (engine === 'postgres') return t.skip('pg_dump makes the backups')
  const DATA_DIR = await databaseBefore(t, '9999')
  const backup = join(DATA_DIR, 'again.db')
  const first = await runRapport(['upgrade', '--backup', backup], { DATA_DIR })
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^Wrote .*again\.db$/m)
  assert.equal(first.last, 'The database is up to date.')
  const copy = new DatabaseSync(backup, { readOnly: true })
  const { name } = copy.prepare('SELECT max(name) AS name FROM schema_migrations').get() ?? {}
  copy.close()
  assert.equal(name, newest)
  const second = await runRapport(['upgrade', '--backup', backup], { DATA_DIR })
  assert.equal(second.code, 1)
  assert.match(second.stderr, /again\.db already exists/)
})

test('upgrade --backup is refused on PostgreSQL before anything runs', async (t) => {
  const DATA_DIR = await databaseBefore(t, '0043')
  const env = { DATA_DIR, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  const { code, stderr } = await runRapport(['upgrade', '--backup', 'before.db'], env)
  assert.equal(code, 1)
  assert.match(stderr, /This command is for SQLite\..*pg_dump/)
})
