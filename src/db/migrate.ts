import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { isoTime, systemClock } from '../clock.ts'
import { type Database, type Db, transaction } from './db.ts'
import { lockInstallation } from './locks.ts'
import { migrations as all } from './migrations/index.ts'
import { engineOf, type Tx } from './tx.ts'

/** One change of the schema: its statements for each engine, then `fill`, in one transaction. */
export type Migration = {
  name: string
  /**
   * `expand` only adds, so processes of the version before keep running and may start. `contract` removes or changes what they
   * use. A version that does not know a contract migration refuses its database.
   */
  kind: 'expand' | 'contract'
  /**
   * The last of the migrations that it has in one. A database that ran this one has all of it, and keeps their names. So a
   * baseline equals them, in what they make.
   */
  replaces?: string
  /** The tables of which it reads or writes every row. `rapport upgrade --check` estimates the time from them. */
  scans?: readonly string[]
  statements: (engine: Database['engine']) => string[]
  /**
   * Computes values that SQL alone cannot compute. The checksum does not cover it. So it must not call code outside of
   * db/migrations: that code could change after the release.
   */
  fill?: (tx: Tx, filling: Filling) => Promise<void>
}

/** The arguments of `fill`; `now` is an ISO 8601 time. */
export type Filling = { engine: Database['engine']; now: string }

/** The checksum of a migration that ran. The database stores it, so that a start detects a later change. */
export const checksum = (statements: string[]) =>
  createHash('sha256').update(statements.join(';\n')).digest('hex')

/**
 * The plan of a start: `pending` would run. `unknown` ran by a newer version, and this version can run beside them. `newest`
 * is the last one that ran.
 */
export type Plan = { newest: string | null; pending: readonly Migration[]; unknown: readonly string[] }

/**
 * Compares the migrations of this version with those that ran, and changes nothing. Throws when this version cannot run on the
 * database, or when a migration has changed since it ran there.
 */
export async function planMigrations(db: Db, migrations: readonly Migration[] = all): Promise<Plan> {
  const done = await ranMigrations(db)
  const statementsOf = new Map(migrations.map(({ name, statements }) => [name, statements]))
  const ran = new Set(done.map(({ name }) => name))
  const isDone = ({ name, replaces }: Migration) =>
    ran.has(name) || (replaces !== undefined && ran.has(replaces))
  const pending = migrations.filter((one) => !isDone(one))
  const replaced = migrations.findLast((one) => one.replaces !== undefined && isDone(one))?.replaces ?? ''
  const unknown = done.filter(({ name }) => !statementsOf.has(name) && name > replaced)
  const baseline = pending.find(
    ({ replaces }) => replaces !== undefined && unknown.some(({ name }) => name < replaces),
  )
  if (baseline)
    throw new Error(
      `The database is from a version that was never released: its last migration is ${unknown.at(-1)?.name}, and this version goes on from ${baseline.replaces}. Restore a backup of a release.`,
    )
  // With pending migrations, the database is not from a newer version but from another line of development.
  const refused = unknown.find(({ kind }) => kind !== 'expand' || pending.length > 0)
  if (refused)
    throw new Error(
      `The database is from a newer version: it has the migration ${refused.name}, and this version cannot run beside it. Start that version, or restore a backup.`,
    )
  for (const { name, checksum: before } of done) {
    const statements = statementsOf.get(name)
    if (statements && checksum(statements(engineOf(db))) !== before)
      throw new Error(
        `The migration ${name} has changed since it ran on this database. Restore its old file: a released migration never changes.`,
      )
  }
  return { newest: done.at(-1)?.name ?? null, pending, unknown: unknown.map(({ name }) => name) }
}

/** How long an expand migration waits for a table that another session uses, and how often it tries. */
export type LockWaits = { timeout_ms: number; pause_ms: number; tries: number }

/**
 * The waits of a start. While a migration waits for a table, all other sessions queue behind it, and their statements fail after
 * 5 s. The pause lets them catch up.
 */
export const lock_waits: LockWaits = { timeout_ms: 3000, pause_ms: 10_000, tries: 20 }

type Options = {
  /** Called once for each migration that waits for a table. */
  onWait?: (reason: Error) => void
  waits?: LockWaits
}

/**
 * Updates the schema and returns the names of the migrations that this call ran. Several processes may call it at once. A new
 * database gets all migrations in one transaction, an existing one gets each in its own. Throws as planMigrations does, and
 * when another session uses a table for too long.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = all,
  { onWait = () => {}, waits = lock_waits }: Options = {},
): Promise<string[]> {
  const ran: string[] = []
  for (;;) {
    const step = await repeatWhileInUse(() => runStep(database, migrations, waits), onWait, waits)
    ran.push(...step.ran)
    if (!step.more) return ran
  }
}

/** Runs the next migration, or all of them on a new database. `more`: some are left. */
function runStep({ db, engine }: Database, migrations: readonly Migration[], { timeout_ms }: LockWaits) {
  return transaction(db, async (tx) => {
    // Hold the lock until the commit. A second process waits here and then finds less to do.
    await lockInstallation(tx)
    await sql`CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, checksum text NOT NULL, ran_at text NOT NULL)`.execute(
      tx,
    )
    const { newest, pending } = await planMigrations(tx, migrations)
    const step = newest === null ? pending : pending.slice(0, 1)
    // Older processes use the tables only while expand migrations run. The timeout ends with the transaction.
    if (engine === 'postgres' && newest !== null && step[0]?.kind === 'expand')
      await sql`SELECT set_config('lock_timeout', ${`${timeout_ms}ms`}, true)`.execute(tx)
    for (const migration of step) await run(tx, engine, migration)
    return { ran: step.map(({ name }) => name), more: step.length < pending.length }
  })
}

async function run(tx: Tx, engine: Database['engine'], { name, kind, statements, fill }: Migration) {
  const texts = statements(engine)
  const now = isoTime(systemClock.now())
  for (const statement of texts) await sql.raw(statement).execute(tx).catch(explainLock(name, statement))
  await fill?.(tx, { engine, now }).catch(explainLock(name, 'its computed values'))
  await sql`INSERT INTO schema_migrations (name, checksum, ran_at) VALUES (${name}, ${checksum(texts)}, ${now})`.execute(
    tx,
  )
  // The default is contract. The first expand migration adds the column.
  if (kind === 'expand')
    await sql`UPDATE schema_migrations SET kind = 'expand' WHERE name = ${name}`.execute(tx)
}

// It has no SQLSTATE: callers repeat a lock timeout (55P03) at once.
class InUse extends Error {}

const explainLock = (name: string, step: string) => (error: unknown) => {
  if ((error as { code?: unknown }).code !== '55P03') throw error
  throw new InUse(
    `The migration ${name} waits for a table that another session uses, such as a backup or a long transaction: ${step.trim().slice(0, 80)}`,
    { cause: error },
  )
}

async function repeatWhileInUse<T>(
  work: () => Promise<T>,
  onWait: (reason: Error) => void,
  { pause_ms, tries }: LockWaits,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof InUse)) throw error
      if (tried === tries)
        throw new Error(
          `${error.message}. It tried ${tries} times. End that session, or wait for its end, and start again.`,
          { cause: error },
        )
      if (tried === 1) onWait(error)
    }
    await pause(pause_ms)
  }
}

type Ran = { name: string; checksum: string; kind?: string }

async function ranMigrations(db: Db): Promise<Ran[]> {
  // Databases from before the first expand migration have no column `kind`.
  return (await sql<Ran>`SELECT * FROM schema_migrations ORDER BY name`.execute(db)).rows
}
