import { mkdirSync } from 'node:fs'
import type { Config } from '../config.ts'
import type { Database } from '../db/db.ts'
import { migrate } from '../db/migrate.ts'
import { databaseFile, openSqlite } from '../db/sqlite/open.ts'

/** Opens the database of the data folder for the work, beside a server if one runs; made and migrated when needed. */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database, ran: string[]) => Promise<T>,
): Promise<T> {
  mkdirSync(config.data_dir, { recursive: true, mode: 0o700 })
  const database = openSqlite(databaseFile(config.data_dir))
  try {
    const ran = await migrate(database)
    return await work(database, ran)
  } finally {
    await database.close()
  }
}
