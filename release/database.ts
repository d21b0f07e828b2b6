import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { schemaFile } from '../scripts/schema-text.ts'
import { runCommand } from '../src/cli/run.ts'
import { writeBackup } from '../src/db/engines/sqlite/backup.ts'
import { version } from '../src/version.ts'
import { withEngine } from '../test/engines.ts'
import { client, startRapport, turnableClock } from '../test/harness.ts'
import { createDatabase } from '../test/postgres.ts'
import { startReceiver } from '../test/receiver.ts'
import { fillInstallation, type Kept, readInstallation, secret_key } from '../test/released/records.ts'
import { root } from './root.ts'

const folder = join(root, 'test/released')

/**
 * Keeps a small database of this version in test/released/, for both engines, with the answers that this version gives.
 * Every later version must migrate it and give the same answers. A database that is there is kept, unless `again`.
 */
export async function keepDatabase(again = false): Promise<void> {
  const name = join(folder, version)
  if (existsSync(`${name}.json.gz`) && !again) return
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-released-'))
  try {
    const kept = await writeInstallation(data_dir)
    const backup = join(data_dir, 'backup.db')
    writeBackup(data_dir, backup, false)
    mkdirSync(folder, { recursive: true })
    const files = {
      'sqlite.gz': readFileSync(backup),
      'sql.gz': await dumpAsPostgres(data_dir),
      'json.gz': JSON.stringify(kept),
    }
    for (const [suffix, content] of Object.entries(files)) {
      writeFileSync(`${name}.${suffix}`, gzipSync(content, { level: 9 }))
      console.log(`Wrote ${name}.${suffix}`)
    }
  } finally {
    rmSync(data_dir, { recursive: true, force: true })
  }
}

async function writeInstallation(data_dir: string): Promise<Kept> {
  const good = await startReceiver()
  const bad = await startReceiver({ answer: { status: 500, body: 'Überlastet' } })
  const clock = turnableClock(Date.now())
  const env = { SECRET_KEY: secret_key, WEBHOOK_RETRY_DELAYS: 'none', DATABASE_URL: '' }
  const rapport = await startRapport({ data_dir, clock, env })
  try {
    const paused = await fillInstallation(rapport, { good: good.url, bad: bad.url })
    const answers = await readInstallation(client(rapport.url, rapport.key))
    return { now: clock.now(), key: rapport.key, paused, answers }
  } finally {
    await rapport.close()
    await Promise.all([good.close(), bad.close()])
  }
}

/** The same content as SQL of PostgreSQL: the schema, then a statement for each row. */
function dumpAsPostgres(data_dir: string): Promise<string> {
  return withEngine('postgres', async ({ TEST_POSTGRES_URL: server = '' }) => {
    const url = await createDatabase(server, `released_${process.pid}`)
    const io = { out: () => {}, err: console.error, env: { SECRET_KEY: secret_key } }
    const code = await runCommand(['move', '--from', `sqlite:${data_dir}`, '--to', url], io)
    if (code !== 0) throw new Error('The move to PostgreSQL failed.')
    const connection = new pg.Client({ connectionString: url })
    await connection.connect()
    try {
      return [
        readFileSync(schemaFile('postgres'), 'utf8'),
        // Without triggers and foreign keys: the dump has what they would write.
        'SET session_replication_role = replica;',
        ...(await statements(connection, rows_by_table)),
        ...(await statements(connection, numbers)),
        '',
      ].join('\n')
    } finally {
      await connection.end()
    }
  })
}

// Each row of these queries is the text of a query, whose rows are the statements.
const rows_by_table = `
  SELECT format('SELECT %L || concat_ws('', '', %s) || '');'' AS text FROM %I',
    format('INSERT INTO %I (%s) VALUES (', table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)),
    string_agg(format('quote_nullable(%I::text)', column_name), ', ' ORDER BY ordinal_position), table_name) AS text
  FROM information_schema.columns WHERE table_schema = 'public' AND is_generated = 'NEVER'
  GROUP BY table_name ORDER BY table_name`
const numbers = `
  SELECT format('SELECT format(''SELECT setval(%%L, %%s, %%L);'', %L, last_value, is_called) AS text FROM %I', sequencename, sequencename) AS text
  FROM pg_sequences WHERE schemaname = 'public' ORDER BY sequencename`

async function statements(connection: pg.Client, queries: string): Promise<string[]> {
  const texts = async (query: string): Promise<string[]> =>
    (await connection.query<{ text: string }>(query)).rows.map(({ text }) => text)
  const found: string[] = []
  for (const query of await texts(queries)) found.push(...(await texts(query)))
  return found
}

if (import.meta.main) await keepDatabase(true)
