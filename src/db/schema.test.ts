// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { schemaFile, schemaText } from '../../scripts/schema-text.ts'
import { engine, openScratch, removeScratch, settingsOf } from '../../test/engine.ts'
import { command } from '../../test/postgres.ts'
import type { Database } from './db.ts'
import { databaseFile } from './engines/sqlite/open.ts'
import { migrate } from './migrate.ts'

const file = readFileSync(schemaFile(engine), 'utf8')

async function emptyDatabase(t: TestContext): Promise<{ data_dir: string; database: Database }> {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  t.after(() => removeScratch(data_dir))
  await settingsOf(data_dir, { migrated: false })
  const database = await openScratch(data_dir)
  t.after(() => database.close())
  return { data_dir, database }
}

// Everything that has a name, as the engine lists it.
const names = {
  sqlite: sql`SELECT type, name FROM sqlite_schema ORDER BY 1, 2`,
  postgres: sql`
    SELECT 'relation' AS type, relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'type', typname FROM pg_type WHERE typnamespace = 'public'::regnamespace
    UNION ALL SELECT 'function', proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'constraint', conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT 'trigger', tgname FROM pg_trigger WHERE NOT tgisinternal
    ORDER BY 1, 2`,
}
const namesOf = async ({ db }: Database) => (await names[engine].execute(db)).rows

test('the schema file shows the database as migrations make it, and makes the same one', async (t) => {
  const { database: migrated } = await emptyDatabase(t)
  await migrate(migrated)
  assert.equal(await schemaText(migrated), file, 'the schema has changed: npm run generate')

  const { data_dir, database: made } = await emptyDatabase(t)
  const { DATABASE_URL } = await settingsOf(data_dir)
  if (DATABASE_URL) await command(DATABASE_URL, file)
  else {
    const writer = new DatabaseSync(databaseFile(data_dir))
    writer.exec(file)
    writer.close()
  }
  assert.equal(await schemaText(made), file)
  assert.deepEqual(await namesOf(made), await namesOf(migrated))
})
