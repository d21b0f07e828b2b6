import { sql } from 'kysely'
import { type Database, transaction } from './db.ts'

export type Durability = {
  /** Whether acknowledged writes survive a power cut, according to the database's settings. */
  isDurable(): boolean
  /** Checks the settings again: an administrator may change them while the service runs. */
  look(): Promise<void>
}

/** Checks that the database's settings let acknowledged writes survive a power cut, and logs each problem. */
export async function watchDurability(
  database: Pick<Database, 'db' | 'engine'>,
  logger: { error(text: string): void },
): Promise<Durability> {
  let problems: string[] = []
  async function look() {
    problems = await durabilityProblems(database)
    for (const problem of problems) logger.error(problem)
  }
  await look()
  return { isDurable: () => problems.length === 0, look }
}

/** Settings that can lose acknowledged writes at a power cut, and what to do. Reads them from the service's sessions. */
export const durabilityProblems = ({ db, engine }: Pick<Database, 'db' | 'engine'>): Promise<string[]> =>
  engine === 'sqlite' ? problemsOfSqlite(db) : problemsOfPostgres(db)

async function problemsOfSqlite(db: Database['db']): Promise<string[]> {
  const { synchronous, journal_mode } = await transaction(db, async (tx) => ({
    synchronous: (await sql<{ synchronous: number }>`PRAGMA synchronous`.execute(tx)).rows[0]?.synchronous,
    journal_mode: (await sql<{ journal_mode: string }>`PRAGMA journal_mode`.execute(tx)).rows[0]
      ?.journal_mode,
  }))
  const problems: string[] = []
  if (Number(synchronous) < 2)
    problems.push(`SQLite runs with synchronous = ${synchronous}: a power cut loses acknowledged writes.`)
  if (journal_mode !== 'wal')
    problems.push(
      `SQLite cannot keep a write-ahead log in DATA_DIR (journal_mode = ${journal_mode}): put it on a local disk.`,
    )
  return problems
}

async function problemsOfPostgres(db: Database['db']): Promise<string[]> {
  const { rows } = await sql<{ name: string; setting: string }>`
    SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
    ORDER BY name`.execute(db)
  return rows.map(({ name }) => postgres_problems[name] as string)
}

const postgres_problems: Record<string, string> = {
  fsync:
    'PostgreSQL runs with fsync = off: a power cut can destroy the whole database. Set fsync = on and restart the server.',
  full_page_writes:
    'PostgreSQL runs with full_page_writes = off: a power cut can damage pages. Set it to on, unless the file system writes whole pages.',
  synchronous_commit:
    'PostgreSQL runs with synchronous_commit = off, also for the service’s own sessions: a crash loses acknowledged writes. Run: ALTER ROLE rapport SET synchronous_commit = on',
}
