import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migrate } from '../../migrate.ts'
import { createSeal, keyFile } from '../../seal.ts'
import { copyPrivately, keyBeside, syncFile } from './backup.ts'
import { lockFolder } from './lock.ts'
import { databaseFile, openSqlite } from './open.ts'

const sides = ['-wal', '-shm']

/**
 * Puts a backup in the place of a data folder's database, and its key beside it if there is one; returns the names under
 * which what was there before is kept. Throws, and changes nothing, while a server runs or when the file is not a whole
 * database of this program or an older one, or when its secrets could not be read. `secret_key` is the setting or null.
 */
export async function restoreBackup(
  data_dir: string,
  file: string,
  secret_key: string | null,
  now: string,
): Promise<string[]> {
  const source = resolve(file)
  if (!statSync(source, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${source}.`)
  if (sides.some((side) => existsSync(source + side)))
    throw new Error(
      `${source} is a database in use, with a -wal beside it. Make a copy: rapport backup FILE.`,
    )
  mkdirSync(data_dir, { recursive: true, mode: 0o700 })
  const unlock = lockFolder(data_dir)
  const database = databaseFile(data_dir)
  const incoming = `${database}.restoring`
  const incoming_key = `${keyFile(data_dir)}.restoring`
  // Left by a restore that was killed: only one runs at a time, by the lock.
  const sweep = () => {
    for (const name of [incoming, incoming_key]) removeDatabase(name)
  }
  try {
    sweep()
    copyPrivately(source, incoming)
    if (existsSync(keyBeside(source))) copyPrivately(keyBeside(source), incoming_key)
    const new_key = existsSync(incoming_key) ? incoming_key : null
    checkFile(incoming, source)
    await checkSchema(incoming, source)
    checkKey(incoming, source, secret_key, readKey(new_key ?? keyFile(data_dir)))
    for (const name of new_key ? [incoming, new_key] : [incoming]) syncFile(name)
    return replace(data_dir, incoming, new_key, `.replaced-${now.replaceAll(/[-:.]/g, '')}`)
  } finally {
    sweep()
    unlock()
  }
}

// The program that the database will serve reads it here first: whatever it would refuse later, it refuses now.
async function checkSchema(incoming: string, source: string) {
  const opened = openSqlite(incoming)
  try {
    await migrate(opened)
  } catch (error) {
    throw new Error(`${source} cannot be restored. ${(error as Error).message}`)
  } finally {
    await opened.close()
  }
  // Its content is in the file itself: what is moved next is the file alone.
  if (existsSync(`${incoming}-wal`))
    throw new Error(`${source} cannot be restored: its log could not be closed.`)
}

function checkFile(incoming: string, source: string) {
  const database = new DatabaseSync(incoming)
  try {
    const problems = database
      .prepare('PRAGMA integrity_check(1)')
      .all()
      .map((row) => row.integrity_check)
    if (problems[0] !== 'ok') throw new Error(`${source} is damaged: ${problems[0]}.`)
    const known = database
      .prepare(
        "SELECT count(*) AS n FROM sqlite_schema WHERE name IN ('schema_migrations', 'workspaces', 'api_keys')",
      )
      .get()
    if (known?.n !== 3) throw new Error(`${source} is not a database of Rapport.`)
  } catch (error) {
    // SQLITE_NOTADB and SQLITE_CORRUPT.
    const { errcode = 0 } = error as { errcode?: number }
    if (errcode === 26) throw new Error(`${source} is not a database.`)
    if (errcode === 11) throw new Error(`${source} is damaged.`)
    throw error
  } finally {
    database.close()
  }
}

const readKey = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : null)

// A database whose secrets cannot be read would refuse to start: better to keep the one that does.
function checkKey(incoming: string, source: string, secret_key: string | null, file_key: string | null) {
  const database = new DatabaseSync(incoming, { readOnly: true })
  const row = database.prepare("SELECT value FROM settings WHERE name = 'seal'").get()
  database.close()
  if (!row) return
  try {
    createSeal(secret_key ?? file_key ?? '').open(String(row.value))
  } catch {
    throw new Error(
      secret_key
        ? `SECRET_KEY is not the key that ${source} was written with.`
        : `${source} was written with another key: put its ${keyBeside(source)} beside it, or set SECRET_KEY.`,
    )
  }
}

// At every moment the folder has one whole database: the old one until the last rename, then the new one.
function replace(data_dir: string, incoming: string, incoming_key: string | null, suffix: string): string[] {
  const database = databaseFile(data_dir)
  const key = keyFile(data_dir)
  const kept: string[] = []
  const undo: (() => void)[] = []
  const keep = (file: string) => {
    const copy = file + suffix
    undo.push(() => rmSync(copy, { force: true }))
    keepAs(file, copy)
    kept.push(copy)
  }
  try {
    if (existsSync(database)) {
      undo.push(...closeLog(database, suffix))
      keep(database)
    }
    if (incoming_key && readKey(incoming_key) !== readKey(key)) {
      if (existsSync(key)) {
        keep(key)
        undo.push(() => renameSync(key + suffix, key))
      } else undo.push(() => rmSync(key, { force: true }))
      renameSync(incoming_key, key)
    }
    renameSync(incoming, database)
  } catch (error) {
    for (const step of undo.toReversed()) step()
    throw error
  }
  syncFile(data_dir)
  return kept
}

function keepAs(file: string, copy: string) {
  try {
    linkSync(file, copy)
  } catch {
    // A file system without links.
    copyPrivately(file, copy)
    syncFile(copy)
  }
}

/**
 * Brings the log of the present database into its file, because SQLite would play a log that stays behind into the new
 * one. A damaged database cannot do that: its log is put beside the copy that is kept. Returns how to undo it.
 */
function closeLog(database: string, suffix: string): (() => void)[] {
  const [log, kept_log] = [`${database}-wal`, `${database}${suffix}-wal`]
  // Before SQLite looks at it: of a damaged database it would throw the log away.
  if (existsSync(log)) keepAs(log, kept_log)
  try {
    const opened = new DatabaseSync(database)
    try {
      // Needs the database for itself, and so finds out whether a command has it open.
      opened.exec('PRAGMA busy_timeout = 2000; PRAGMA journal_mode = DELETE')
    } finally {
      opened.close()
    }
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== 5) {
      for (const side of sides) rmSync(database + side, { force: true })
      return existsSync(kept_log) ? [() => renameSync(kept_log, log)] : []
    }
    rmSync(kept_log, { force: true })
    throw new Error('Another command has the database open. Try again when it is done.')
  }
  rmSync(kept_log, { force: true })
  return []
}

function removeDatabase(file: string) {
  for (const name of [file, ...sides.map((side) => file + side)]) rmSync(name, { force: true })
}
