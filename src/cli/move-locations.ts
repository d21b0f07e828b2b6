import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../db/db.ts'
import { lockFolder } from '../db/engines/sqlite/lock.ts'
import { hasDatabase } from '../db/engines/sqlite/open.ts'
import { migrate, planMigrations } from '../db/migrate.ts'
import { command_suspect_after_ms, openDatabase } from '../db/open.ts'
import { isInstallation } from '../move/tables.ts'
import { ErrorAt, UsageError } from './command.ts'
import { counted } from './text.ts'

/** The location of an installation: a data folder, or the URL of a PostgreSQL database. */
export type Location = { folder: string; url: null } | { folder: null; url: string }

/** Parses `sqlite:FOLDER`, `sqlite:FOLDER/rapport.db` or `postgres://…`. Throws UsageError. */
export function parseLocation(option: string, text: string): Location {
  if (text.startsWith('sqlite:')) {
    const path = text.slice('sqlite:'.length).replace(/^\/\//, '')
    const full = resolve(path.replace(/^~(?=\/|$)/, homedir()))
    const folder = basename(full) === 'rapport.db' ? dirname(full) : full
    if (path && (!existsSync(folder) || statSync(folder).isDirectory())) return { folder, url: null }
  }
  if (['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? ''))
    return { folder: null, url: text }
  throw new UsageError(
    `--${option} must be sqlite:FOLDER, where FOLDER is a DATA_DIR, or postgres://user:password@host:5432/database.`,
  )
}

/** The text of a location, without its password. */
export function showLocation({ folder, url }: Location): string {
  if (url === null) return `sqlite:${folder}`
  const shown = new URL(url)
  shown.password = ''
  shown.searchParams.delete('password')
  return shown.href
}

// One connection copies; the other reads the server's clock.
const pool_size = 2
/**
 * Opens both locations for the work, and locks a data folder against servers. Throws if a location cannot be reached,
 * or if the source is in use or not an installation. Then nothing is changed.
 */
export async function withLocations<T>(
  source: Location,
  target: Location,
  work: (source: Database, target: Database) => Promise<T>,
): Promise<T> {
  // Close in the reverse order of opening.
  const closing: (() => unknown)[] = []
  const open = async (location: Location) => {
    if (location.folder !== null) closing.push(lockFolder(location.folder))
    const { folder, url } = location
    const database = await openDatabase({
      data_dir: folder ?? '',
      database_url: url === null ? null : url,
      database_pool_size: pool_size,
      suspect_after_ms: command_suspect_after_ms,
    })
    closing.push(() => database.close())
    return database
  }
  try {
    if (source.folder !== null && !hasDatabase(source.folder))
      throw new Error(`There is no database in ${source.folder}.`)
    const from = await namingLocation(source, () => open(source))
    await namingLocation(source, () => checkSource(from))
    const to = await namingLocation(target, () => open(target))
    await namingLocation(source, () => bringUpToDate(from))
    await namingLocation(target, () => bringUpToDate(to))
    return await work(from, to)
  } finally {
    for (const step of closing.reverse()) await step()
  }
}

/** Adds the name of the location to an error. */
async function namingLocation<T>(location: Location, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new ErrorAt(showLocation(location), error)
  }
}

// A version may serve a database to which a newer one has added columns, but it would not copy them.
async function bringUpToDate(database: Database) {
  await migrate(database)
  const { unknown } = await planMigrations(database.db)
  if (unknown.length)
    throw new Error(
      `The database is from a newer version: it has the migration ${unknown[0]}. Move it with that version.`,
    )
}

// A server holds no lock on a PostgreSQL database, but its connections have the application_name rapport. At this point,
// this process has only the connection that runs the query.
async function checkSource({ db, engine }: Database) {
  if (!(await isInstallation(db))) throw new Error('This is not a database of Rapport.')
  if (engine === 'sqlite') return
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'rapport' AND pid <> pg_backend_pid()`.execute(
    db,
  )
  const n = Number(rows[0]?.n ?? 0)
  if (n > 0)
    throw new Error(
      `${counted(n, 'connection of Rapport is', 'connections of Rapport are')} open. Stop every server first, and close the connections of a pooler. Otherwise, the copy would miss their changes.`,
    )
}
