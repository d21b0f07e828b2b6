import type { Config } from '../config.ts'
import type { Database } from '../db/db.ts'
import { migrate } from '../db/migrate.ts'
import { command_suspect_after_ms, openDatabase } from '../db/open.ts'

/**
 * Opens the database of the settings for the work, also while servers run. Creates and migrates it if needed. Calls `onWait` when
 * a migration waits for a table that another session uses.
 */
export async function withDatabase<T>(
  config: Config,
  work: (database: Database, ran: string[]) => Promise<T>,
  onWait?: (reason: Error) => void,
): Promise<T> {
  const database = await openDatabase({ ...config, suspect_after_ms: command_suspect_after_ms })
  try {
    const ran = await migrate(database, undefined, { onWait })
    return await work(database, ran)
  } finally {
    await database.close()
  }
}
