import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { databaseFile } from '../src/db/engines/sqlite/open.ts'
import { engine, settingsOf } from './engine.ts'

/** Another program's connection to a data folder's database: it changes what it likes, and can keep all writers out. */
export async function intrude(data_dir: string) {
  return engine === 'sqlite' ? intrudeSqlite(data_dir) : intrudePostgres(data_dir)
}
export type Intruder = Awaited<ReturnType<typeof intrude>>

function intrudeSqlite(data_dir: string) {
  const database = new DatabaseSync(databaseFile(data_dir))
  return {
    run: async (sql: string) => database.exec(sql),
    /** From now on, other connections cannot write, but can read. */
    keepWritersOut: async () => database.exec('BEGIN IMMEDIATE'),
    letWritersIn: async () => database.exec('ROLLBACK'),
    close: async () => database.close(),
  }
}

async function intrudePostgres(data_dir: string): Promise<ReturnType<typeof intrudeSqlite>> {
  const { DATABASE_URL } = await settingsOf(data_dir)
  const connection = new pg.Client({ connectionString: DATABASE_URL })
  await connection.connect()
  const run = async (sql: string) => void (await connection.query(sql))
  return {
    run,
    async keepWritersOut() {
      const { rows } = await connection.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
      await run(`BEGIN; LOCK TABLE ${rows.map(({ tablename }) => tablename)} IN EXCLUSIVE MODE`)
    },
    letWritersIn: () => run('ROLLBACK'),
    close: () => connection.end(),
  }
}
