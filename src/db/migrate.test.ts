// runs: both
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { engine, openScratch, removeScratch, settingsOf } from '../../test/engine.ts'
import { startRapport } from '../../test/harness.ts'
import { type Db, transaction } from './db.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations/index.ts'

let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(folder, { migrated: false })
})
afterEach(() => removeScratch(folder))

const names = migrations.map(({ name }) => name)
async function opened<T>(work: (db: Db, run: () => Promise<string[]>) => Promise<T>): Promise<T> {
  const database = await openScratch(folder)
  try {
    return await work(database.db, () => migrate(database))
  } finally {
    await database.close()
  }
}
/** Makes a database of an older version, with the first migrations. */
async function migrateTo(count: number) {
  const database = await openScratch(folder)
  assert.deepEqual(await migrate(database, migrations.slice(0, count)), names.slice(0, count))
  await database.close()
}
const ranIn = async (db: Db) =>
  (await sql<{ name: string }>`SELECT name FROM schema_migrations ORDER BY name`.execute(db)).rows.map(
    ({ name }) => name,
  )

const schemas = {
  sqlite: sql`SELECT name, sql FROM sqlite_schema ORDER BY name`,
  postgres: sql`
    SELECT table_name || '.' || column_name AS name, data_type AS sql
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
}
const schema = (db: Db) => schemas[engine].execute(db).then(({ rows }) => rows)

/** The schema of a database that all migrations made at once. */
async function freshSchema() {
  const other = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(other, { migrated: false })
  const database = await openScratch(other)
  try {
    await migrate(database)
    return await schema(database.db)
  } finally {
    await database.close()
    await removeScratch(other)
  }
}

test('migrations are numbered without a gap after the baselines, in order, and run once', async () => {
  assert.deepEqual(
    names.map((name) => Number(/^(\d{4})_[a-z_]+$/.exec(name)?.[1])),
    names.map((_, index) => [19, 37][index] ?? 36 + index),
  )
  await opened(async (db, run) => {
    assert.deepEqual(await run(), names)
    const made = await schema(db)
    assert.deepEqual(await run(), [])
    assert.deepEqual(await schema(db), made)
  })
})

test('a migration that changed since it ran is refused, and nothing is touched', async () => {
  await opened(async (db, run) => {
    await run()
    await transaction(db, (tx) =>
      sql`UPDATE schema_migrations SET checksum = 'another' WHERE name = ${names[0]}`.execute(tx),
    )
    const made = await schema(db)
    await assert.rejects(run(), /The migration 0019_baseline has changed since it ran on this database/)
    assert.deepEqual(await schema(db), made)
  })
})

/** Renames migrations that ran: the first ones to their baseline's parts, by the names that these had. */
const ranAs = (db: Db, baseline: string, parts: string[]) =>
  transaction(db, async (tx) => {
    await sql`DELETE FROM schema_migrations WHERE name = ${baseline}`.execute(tx)
    for (const name of parts)
      await sql`INSERT INTO schema_migrations (name, checksum, ran_at) VALUES (${name}, 'x', 'now')`.execute(
        tx,
      )
  })

test('a database that ran the migrations of a baseline one by one has nothing to do', async () => {
  await opened(async (db, run) => {
    await run()
    await ranAs(db, '0019_baseline', ['0001_foundation', '0018_migration_kinds', '0019_event_traces'])
    assert.deepEqual(await run(), [])
    await ranAs(db, '0037_baseline', ['0020_record_fields', '0037_import_error_codes'])
    const made = await schema(db)
    assert.deepEqual(await run(), [])
    assert.deepEqual(await schema(db), made)
  })
})

test('a database that ran only some migrations of a baseline is refused, and nothing is touched', async () => {
  await migrateTo(1)
  await opened(async (db, run) => {
    await ranAs(db, '0019_baseline', ['0001_foundation', '0019_event_traces', '0025_reassignments'])
    const made = await schema(db)
    await assert.rejects(run(), /never released: its last migration is 0025_reassignments/)
    assert.deepEqual(await schema(db), made)
  })
})

test('a database of a newer version is refused, by a start of the service too', async () => {
  await opened(async (db, run) => {
    await run()
    await transaction(db, (tx) =>
      sql`INSERT INTO schema_migrations (name, checksum, ran_at) VALUES ('9999_future', 'x', 'now')`.execute(
        tx,
      ),
    )
    await assert.rejects(run(), /from a newer version: it has the migration 9999_future/)
  })
  await assert.rejects(startRapport({ data_dir: folder }), /from a newer version/)
  // The failed start lets go of the folder.
  await opened((db) =>
    transaction(db, (tx) => sql`DELETE FROM schema_migrations WHERE name = '9999_future'`.execute(tx)),
  )
  await (await startRapport({ data_dir: folder })).close()
})

test('a migration that fails on a new database leaves nothing behind', async () => {
  await opened(async (db, run) => {
    // The migration creates a table that exists already.
    await transaction(db, (tx) => sql`CREATE TABLE webhook_attempts (id INTEGER)`.execute(tx))
    await assert.rejects(run(), /already exists/)
    assert.deepEqual((await schema(db)).length, 1)
  })
})

/** Migrates in a process of its own, with the expression as the list of migrations; resolves with the names that ran there. */
async function migrateInProcess(list = 'migrations'): Promise<string[]> {
  const at = (file: string) => JSON.stringify(new URL(file, import.meta.url))
  const script = `
    import { readConfig } from ${at('../config.ts')}
    import { migrate } from ${at('migrate.ts')}
    import { migrations } from ${at('migrations/index.ts')}
    import { openDatabase } from ${at('open.ts')}
    const database = await openDatabase(readConfig())
    console.log(JSON.stringify(await migrate(database, ${list})))
    await database.close()`
  const env = { ...process.env, ...(await settingsOf(folder)) }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env,
  })
  return JSON.parse(stdout)
}
const migrateInProcesses = (count: number) =>
  Promise.all(Array.from({ length: count }, () => migrateInProcess()))

test('several processes that start at once on an empty folder migrate it once', async () => {
  const ran = await migrateInProcesses(4)
  assert.deepEqual(ran.flat(), names)
})

test('several processes that start at once on an older database run each migration once', async () => {
  const older = 3
  await migrateTo(older)
  const ran = await migrateInProcesses(4)
  assert.deepEqual(ran.flat().toSorted(), names.slice(older))
  for (const some of ran) assert.deepEqual(some, some.toSorted())
  assert.deepEqual(await opened((db) => ranIn(db)), names)
})

test('a migration that fails on an older database keeps those before it, and the next start completes', async () => {
  await migrateTo(3)
  const broken = migrations.with(5, {
    name: names[5] ?? '',
    kind: 'contract',
    statements: () => ['CREATE TABLE half_done (id bigint)', 'DROP TABLE nowhere'],
  })
  const database = await openScratch(folder)
  await assert.rejects(migrate(database, broken), /nowhere/)
  await database.close()
  await opened(async (db, run) => {
    assert.deepEqual(await ranIn(db), names.slice(0, 5))
    assert.deepEqual(await run(), names.slice(5))
    assert.deepEqual(await schema(db), await freshSchema())
  })
})

test('a kill within a migration keeps those before it, and the next start completes', async () => {
  await migrateTo(3)
  const killed = "migrations.with(5, { ...migrations[5], fill: () => process.kill(process.pid, 'SIGKILL') })"
  await assert.rejects(migrateInProcess(killed), { signal: 'SIGKILL' })
  await opened(async (db, run) => {
    assert.deepEqual(await ranIn(db), names.slice(0, 5))
    assert.deepEqual(await run(), names.slice(5))
    assert.deepEqual(await schema(db), await freshSchema())
  })
})
