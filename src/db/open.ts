import type { Config } from '../config.ts'
import type { Database } from './db.ts'
import { databaseFile, openSqlite } from './engines/sqlite/open.ts'
import { makeFolder } from './folder.ts'

type Settings = Pick<Config, 'data_dir' | 'database_url' | 'database_pool_size'> &
  Partial<Pick<Config, 'database_replica_url'>>

/** Opens PostgreSQL at DATABASE_URL, else SQLite in DATA_DIR. Does not run migrations. */
export async function openDatabase({
  data_dir,
  database_url,
  database_replica_url = null,
  database_pool_size,
}: Settings): Promise<Database> {
  if (database_url !== null) {
    // Import the driver only when it is used: it would slow a start on SQLite.
    const { openPostgres } = await import('./engines/postgres/open.ts')
    return openPostgres(database_url, database_replica_url, database_pool_size)
  }
  makeFolder(data_dir, 0o700)
  return openSqlite(databaseFile(data_dir))
}
