import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { readConfig } from '../src/config.ts'
import type { Database } from '../src/db/db.ts'
import { databaseFile } from '../src/db/engines/sqlite/open.ts'
import type { Waits } from '../src/db/locks.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { createDatabase } from './postgres.ts'

/** The engine that this process tests on; test/run.ts sets it, and starts the server that PostgreSQL needs. */
export const engine = process.env.TEST_ENGINE === 'postgres' ? 'postgres' : 'sqlite'

const server = () => {
  const { TEST_POSTGRES_URL: url, TEST_POSTGRES_TEMPLATE: template } = process.env
  if (!url || !template)
    throw new Error('Tests run on PostgreSQL by: node test/run.ts --engine postgres FILE')
  return { url, template }
}

// Every data folder has a database of its own, which processes that share the folder find by its name.
const nameOf = (data_dir: string) =>
  `${server().template}_${createHash('sha256').update(data_dir).digest('hex').slice(0, 16)}`

/**
 * Settings of services that tests start. Each opens its whole pool at the start, and each connection costs PostgreSQL a
 * process that has read no catalogue yet.
 */
export const small_pool = { DATABASE_POOL_SIZE: '4' }

/**
 * How long services that tests start wait for PostgreSQL. A machine that runs many tests at once may stall for seconds. A
 * statement still ends after 30 s. Tests of the limits themselves give `waits: {}`.
 */
export const patient = { wait_ms: 60_000, suspect_after_ms: 10_000 }

// A process of tests makes and drops hundreds of databases. A connection for each statement costs the server more.
let administrator: pg.Pool | undefined
const administer = (text: string) => {
  administrator ??= new pg.Pool({ connectionString: server().url, allowExitOnIdle: true }).on(
    'error',
    () => {},
  )
  return administrator.query(text)
}

const made = new Map<string, Promise<string>>()

/**
 * The settings with which a program finds a data folder's database. On PostgreSQL, the first call creates the database:
 * a copy of a migrated one without rows, or an empty one.
 */
export async function settingsOf(
  data_dir: string,
  { migrated = true } = {},
): Promise<{ DATA_DIR: string; DATABASE_URL?: string }> {
  if (engine === 'sqlite') return { DATA_DIR: data_dir }
  let url = made.get(data_dir)
  if (!url) {
    const { url: at, template } = server()
    url = createDatabase(at, nameOf(data_dir), migrated ? template : 'template0', administer)
    made.set(data_dir, url)
  }
  return { DATA_DIR: data_dir, DATABASE_URL: await url }
}

/** Puts a migrated database without rows into an empty data folder, for tests that do not test the first start. */
export async function spareMigration(data_dir: string): Promise<void> {
  const template = process.env.TEST_SQLITE_TEMPLATE
  const file = databaseFile(data_dir)
  if (engine === 'sqlite' && template && !existsSync(file)) await copyFile(template, file)
}

/** Opens a data folder's database as a program does; on SQLite it is empty until it is migrated. */
export async function openScratch(data_dir: string, waits: Waits = patient): Promise<Database> {
  return openDatabase({ ...readConfig(await settingsOf(data_dir)), ...waits })
}

/** Opens a migrated database without rows, and no service. `close` removes it and its data folder. */
export async function openMigrated(): Promise<Database & { data_dir: string }> {
  const data_dir = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  const database = await openScratch(data_dir)
  await migrate(database)
  const close = async () => {
    await database.close()
    await removeScratch(data_dir)
  }
  return { ...database, data_dir, close }
}

/** Removes a data folder with its database, also while clients are connected. */
export async function removeScratch(data_dir: string): Promise<void> {
  await rm(data_dir, { recursive: true, force: true, maxRetries: 5 })
  if (made.delete(data_dir)) await administer(`DROP DATABASE IF EXISTS ${nameOf(data_dir)} WITH (FORCE)`)
}
