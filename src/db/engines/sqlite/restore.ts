import { existsSync, linkSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { command } from '../../../installed.ts'
import { firstKeyFile, giveToOwner, makeFolder } from '../../folder.ts'
import { requireGivenFile } from '../../given-file.ts'
import { migrate } from '../../migrate.ts'
import { createSeal, keyFile } from '../../seal.ts'
import { hashToken } from '../../token-hash.ts'
import { copyPrivately, keyBeside, syncFile } from './backup.ts'
import { lockFolder } from './lock.ts'
import { databaseFile, openSqlite } from './open.ts'

const sides = ['-wal', '-shm']
// SQLite would also apply these to a database that they do not belong to.
const logs = ['-wal', '-journal']

type Keys = { secret_key: string | null; secret_key_old: string | null }

/**
 * Replaces a data folder's database, and its key if the backup has one. Returns the names of the files that keep the
 * old ones. Throws if a server runs, or if the key cannot open the secrets. Throws if the file is incomplete or of a
 * newer version. Then nothing is changed. `secret_key` and the one before are settings or null.
 */
export async function restoreBackup(
  data_dir: string,
  file: string,
  secret_key: string | null,
  now: string,
  secret_key_old: string | null = null,
): Promise<string[]> {
  const source = resolve(file)
  requireGivenFile(source)
  if (sides.some((side) => existsSync(source + side)))
    throw new Error(
      `${source} is a database in use: it has a -wal file. Make a copy with: ${command('backup FILE')}`,
    )
  makeFolder(data_dir, 0o700)
  const unlock = lockFolder(data_dir)
  const database = databaseFile(data_dir)
  const incoming = `${database}.restoring`
  const incoming_key = `${keyFile(data_dir)}.restoring`
  // Remove the files of a restore that was killed. The lock allows one restore at a time.
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
    checkKey(incoming, source, { secret_key, secret_key_old }, readKey(new_key ?? keyFile(data_dir)))
    for (const name of new_key ? [incoming, new_key] : [incoming]) {
      giveToOwner(name)
      syncFile(name)
    }
    return replace(data_dir, incoming, new_key, `.replaced-${now.replaceAll(/[-:.]/g, '')}`)
  } finally {
    sweep()
    unlock()
  }
}

// Open and migrate the copy here, so that an error of the next start appears before the replacement.
async function checkSchema(incoming: string, source: string) {
  try {
    const opened = openSqlite(incoming)
    await migrate(opened).finally(() => opened.close())
  } catch (error) {
    throw new Error(`${source} cannot be restored. ${(error as Error).message}`)
  }
  // Only the file is moved next, so its write-ahead log must be empty.
  if (existsSync(`${incoming}-wal`))
    throw new Error(`${source} cannot be restored: its write-ahead log could not be merged.`)
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
    const { errcode = 0, message } = error as Error & { errcode?: number }
    if (errcode === 26) throw new Error(`${source} is not a database.`)
    if (errcode === 11) throw new Error(`${source} is damaged.`)
    if (errcode !== 0) throw new Error(`${source} cannot be restored. ${message}`)
    throw error
  } finally {
    database.close()
  }
}

const readKey = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : null)

// The server would not start with a database whose secrets it cannot decrypt, so refuse it here.
function checkKey(
  incoming: string,
  source: string,
  { secret_key, secret_key_old }: Keys,
  file_key: string | null,
) {
  const database = new DatabaseSync(incoming, { readOnly: true })
  const row = database.prepare("SELECT value FROM settings WHERE name = 'seal'").get()
  database.close()
  if (!row) return
  try {
    createSeal(secret_key ?? file_key ?? '', secret_key_old).open(String(row.value))
  } catch {
    throw new Error(
      secret_key
        ? `SECRET_KEY is not the key of ${source}. Set SECRET_KEY to the key that it was written with. If the key was changed since, set SECRET_KEY_OLD to that one, and run ${command('rekey')} after the start.`
        : `${source} was written with another key. Put ${keyBeside(source)} beside it, or set SECRET_KEY.`,
    )
  }
}

// The folder always has one complete database: the old one until the last rename, then the new one.
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
    } else
      for (const side of logs.filter((side) => existsSync(database + side))) {
        const copy = database + suffix + side
        renameSync(database + side, copy)
        undo.push(() => renameSync(copy, database + side))
        kept.push(copy)
      }
    if (incoming_key && readKey(incoming_key) !== readKey(key)) {
      if (existsSync(key)) {
        keep(key)
        undo.push(() => renameSync(key + suffix, key))
      } else undo.push(() => rmSync(key, { force: true }))
      renameSync(incoming_key, key)
    }
    const first = firstKeyFile(data_dir)
    if (existsSync(first) && !hasKey(incoming, first)) {
      renameSync(first, first + suffix)
      undo.push(() => renameSync(first + suffix, first))
      kept.push(first + suffix)
    }
    renameSync(incoming, database)
  } catch (error) {
    for (const step of undo.toReversed()) step()
    throw error
  }
  syncFile(data_dir)
  return kept
}

/** Whether a database has the API key of a file. */
function hasKey(file: string, key_file: string): boolean {
  const hash = hashToken(readFileSync(key_file, 'utf8').trim())
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare('SELECT 1 FROM api_keys WHERE hash = ?').get(hash) !== undefined
  } finally {
    database.close()
  }
}

function keepAs(file: string, copy: string) {
  try {
    linkSync(file, copy)
  } catch {
    // The file system does not support hard links.
    copyPrivately(file, copy)
    syncFile(copy)
  }
}

/**
 * Merges the write-ahead log of the current database into its file: SQLite would apply a remaining log to the new
 * database. The log of a damaged database cannot be merged, so it is kept beside the old file. Returns the undo steps.
 */
function closeLog(database: string, suffix: string): (() => void)[] {
  const [log, kept_log] = [`${database}-wal`, `${database}${suffix}-wal`]
  // Keep the log before SQLite opens the database: SQLite would discard the log of a damaged one.
  if (existsSync(log)) keepAs(log, kept_log)
  try {
    const opened = new DatabaseSync(database)
    try {
      // This needs exclusive access, so it fails when another command has the database open.
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
    throw new Error('Another command has the database open. Try again after it ends.')
  }
  rmSync(kept_log, { force: true })
  return []
}

function removeDatabase(file: string) {
  for (const name of [file, ...sides.map((side) => file + side)]) rmSync(name, { force: true })
}
