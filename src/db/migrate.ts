import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { isoTime, systemClock } from '../clock.ts'
import { type Database, type Db, transaction } from './db.ts'
import { lockInstallation } from './locks.ts'
import { migrations as all } from './migrations/index.ts'

/** One change of the schema: its statements for each engine, then `fill`, in one transaction. */
export type Migration = {
  name: string
  statements: (engine: Database['engine']) => string[]
  /**
   * Computes values that SQL alone cannot compute. The checksum does not cover it. So it must not call code outside of
   * db/migrations: that code could change after the release.
   */
  fill?: (tx: Db, filling: Filling) => Promise<void>
}

/** The arguments of `fill`; `now` is an ISO 8601 time. */
export type Filling = { engine: Database['engine']; now: string }

/** What the database keeps of a migration that ran, by which a later change is noticed. */
export const checksum = (statements: string[]) =>
  createHash('sha256').update(statements.join(';\n')).digest('hex')

/**
 * Updates the schema and returns the names of the migrations that ran. Several processes may call it at once. Throws when
 * the database has an unknown migration, or when a migration has changed since it ran there.
 */
export async function migrate({ db, engine }: Database, migrations = all): Promise<string[]> {
  return transaction(db, async (tx) => {
    // Hold the lock until the commit. A second process waits here and then finds nothing to do.
    await lockInstallation(tx)
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, checksum text NOT NULL, ran_at text NOT NULL)`.execute(
      tx,
    )
    const done = await ranMigrations(tx)
    const known = migrations.map((migration) => migration.name)
    const newer = done.find((row) => !known.includes(row.name))
    if (newer)
      throw new Error(
        `The database is from a newer version: it has the migration ${newer.name}. Start that version, or restore a backup.`,
      )
    const ran: string[] = []
    const now = isoTime(systemClock.now())
    for (const migration of migrations) {
      const statements = migration.statements(engine)
      const before = done.find((row) => row.name === migration.name)
      if (before && before.checksum !== checksum(statements))
        throw new Error(
          `The migration ${migration.name} has changed since it ran on this database. Restore its old file: a released migration never changes.`,
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
