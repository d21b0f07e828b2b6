import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../db/db.ts'
import { lockFolder } from '../db/engines/sqlite/lock.ts'
import { databaseFile } from '../db/engines/sqlite/open.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import { isInstallation } from '../move/tables.ts'
import { UsageError } from './command.ts'

/** The location of an installation: a data folder, or the URL of a PostgreSQL database. */
export type Place = { folder: string; url: null } | { folder: null; url: string }

/** Parses `sqlite:FOLDER`, `sqlite:FOLDER/rapport.db` or `postgres://…`. Throws UsageError. */
export function parsePlace(option: string, text: string): Place {
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
export function showPlace({ folder, url }: Place): string {
  if (url === null) return `sqlite:${folder}`
  const shown = new URL(url)
  shown.password = ''
  shown.searchParams.delete('password')
  return shown.href
}

// One connection copies; the other reads the server's clock.
const pool_size = 2
/**
 * Opens both locations for the work, and locks a data folder, so that no server can use it meanwhile. Throws, and changes
 * nothing, when a location cannot be reached, or the source is not an installation or is in use.
 */
export async function withPlaces<T>(
  source: Place,
  target: Place,
  work: (source: Database, target: Database) => Promise<T>,
): Promise<T> {
  // Close in the reverse order of opening.
  const closing: (() => unknown)[] = []
  const open = async (place: Place) => {
    if (place.folder !== null) closing.push(lockFolder(place.folder))
    const { folder, url } = place
    const database = await openDatabase({
      data_dir: folder ?? '',
      database_url: url === null ? null : url,
      database_pool_size: pool_size,
    })
    closing.push(() => database.close())
    return database
  }
  try {
    if (source.folder !== null && !existsSync(databaseFile(source.folder)))
      throw new Error(`There is no database in ${source.folder}.`)
    const from = await told(source, () => open(source))
    await told(source, () => checkSource(from))
    const to = await told(target, () => open(target))
    await told(source, () => migrate(from))
    await told(target, () => migrate(to))
    return await work(from, to)
  } finally {
    for (const step of closing.reverse()) await step()
  }
}

/** Adds the name of the location to an error. */
async function told<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`${showPlace(place)}: ${(error as Error).message}`, { cause: error })
  }
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
  const n = rows[0]?.n ?? 0
  if (n > 0)
    throw new Error(
      `${n} connections of Rapport are open. Stop every server first (and end what a pooler keeps open): what they write now would stay behind.`,
    )
}
