import type { Config } from '../config.ts'
import type { Database } from './db.ts'
import { databaseFile, openSqlite } from './engines/sqlite/open.ts'
import { makeFolder } from './folder.ts'
import type { Waits } from './locks.ts'

/**
 * How long a command waits for an answer before it checks the connection. Its only connection may wait for a lock while a busy server
 * opens no other one for the check. Requests must be answered within 6 s, so the service checks sooner.
 */
export const command_suspect_after_ms = 10_000

type Settings = Pick<Config, 'data_dir' | 'database_url' | 'database_pool_size'> &
  Partial<Pick<Config, 'database_replica_url'>> &
  Waits

/** Opens PostgreSQL at DATABASE_URL, else SQLite in DATA_DIR. Does not run migrations. */
export async function openDatabase({
  data_dir,
  database_url,
  database_replica_url = null,
  database_pool_size,
  suspect_after_ms,
  wait_ms,
}: Settings): Promise<Database> {
  if (database_url !== null) {
    // Import the driver only when it is used: it would slow a start on SQLite.
    const { openPostgres } = await import('./engines/postgres/open.ts')
    const waits = { suspect_after_ms, wait_ms }
    return openPostgres(database_url, database_replica_url, database_pool_size, waits)
  }
  makeFolder(data_dir, 0o700)
  return openSqlite(databaseFile(data_dir))
}
