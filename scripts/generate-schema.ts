import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { engines, withEngine } from '../test/engines.ts'
import { databaseUrl } from '../test/postgres.ts'
import { schemaFile, schemaText } from './schema-text.ts'

// Writes src/db/schema.sqlite.sql and src/db/schema.postgres.sql. With --check, only compares the file of SQLite, which
// needs no server. src/db/schema.test.ts compares both.

async function textOf(settings: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-schema-'))
  const database = await openDatabase(readConfig({ DATA_DIR: folder, ...settings }))
  try {
    await migrate(database)
    return await schemaText(database)
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv.includes('--check')) {
  if ((await textOf({})) !== readFileSync(schemaFile('sqlite'), 'utf8')) {
    console.error('src/db/schema.sqlite.sql is not what the migrations make: npm run generate')
    process.exitCode = 1
  }
} else {
  const postgres = await withEngine(
    'postgres',
    ({ TEST_POSTGRES_URL: url = '', TEST_POSTGRES_TEMPLATE: name = '' }) =>
      textOf({ DATABASE_URL: databaseUrl(url, name) }),
  )
  const texts = { sqlite: await textOf({}), postgres }
  for (const engine of engines) {
    writeFileSync(schemaFile(engine), texts[engine])
    console.log(`Wrote ${schemaFile(engine)}`)
  }
}
