import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { isoTime, systemClock } from '../clock.ts'
import { type Database, type Db, transaction } from './db.ts'
import { lockInstallation } from './locks.ts'
import { migrations as all } from './migrations/index.ts'

/** One change of the schema: its statements for each engine, and what fills them, run in one transaction. */
export type Migration = {
  name: string
  statements: (engine: Database['engine']) => string[]
  /**
   * Fills what statements alone cannot work out of the rows. The checksum does not cover it: so it calls no code outside
   * of db/migrations, which could change after the release.
   */
  fill?: (tx: Db, filling: Filling) => Promise<void>
}

/** What a migration knows while it fills; `now` is an ISO 8601 time. */
export type Filling = { engine: Database['engine']; now: string }

/** What the database keeps of a migration that ran, by which a later change is noticed. */
export const checksum = (statements: string[]) =>
  createHash('sha256').update(statements.join(';\n')).digest('hex')

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Safe when several processes start at
 * once. Throws when the database is newer than this program, or when a migration that ran there has changed since.
 */
export async function migrate({ db, engine }: Database, migrations = all): Promise<string[]> {
  return transaction(db, async (tx) => {
    // Held until the commit: the second of two processes that start together waits here and then finds nothing to do.
    await lockInstallation(tx)
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, checksum text NOT NULL, ran_at text NOT NULL)`.execute(
      tx,
    )
    const done = await ranMigrations(tx)
    const known = migrations.map((migration) => migration.name)
    const newer = done.find((row) => !known.includes(row.name))
    if (newer)
      throw new Error(
        `The database was made by a newer version (it has ${newer.name}). Start that version, or restore a backup.`,
      )
    const ran: string[] = []
    const now = isoTime(systemClock.now())
    for (const migration of migrations) {
      const statements = migration.statements(engine)
      const before = done.find((row) => row.name === migration.name)
      if (before && before.checksum !== checksum(statements))
        throw new Error(
          `Migration ${migration.name} has changed since it ran here. Released migrations never change.`,
        )
      if (before) continue
      for (const statement of statements) await sql.raw(statement).execute(tx)
      await migration.fill?.(tx, { engine, now })
      await sql`INSERT INTO schema_migrations VALUES (${migration.name}, ${checksum(statements)}, ${now})`.execute(
        tx,
      )
      ran.push(migration.name)
    }
    return ran
  })
}

async function ranMigrations(tx: Db): Promise<{ name: string; checksum: string }[]> {
  const result = await sql<{
    name: string
    checksum: string
  }>`SELECT name, checksum FROM schema_migrations`.execute(tx)
  return result.rows
}
