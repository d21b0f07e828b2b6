import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { keyFile } from '../../seal.ts'
import { databaseFile } from './open.ts'

/** Where the key that belongs to a backup is kept. */
export const keyBeside = (file: string) => `${file}.key`

/**
 * Writes a consistent copy of a data folder's database to `file`, also while a server writes, and beside it the folder's
 * key file if `with_key`. Both are readable by their owner only, and appear whole or not at all. Returns what was
 * written; throws when something has one of the names already.
 */
export function writeBackup(data_dir: string, file: string, with_key: boolean): string[] {
  const target = resolve(file)
  const source = databaseFile(data_dir)
  if (!existsSync(source)) throw new Error(`There is no database in ${data_dir} yet: nothing to back up.`)
  if (!statSync(dirname(target), { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${dirname(target)} does not exist.`)
  const key = with_key && existsSync(keyFile(data_dir)) ? keyFile(data_dir) : null
  const targets = key ? [target, keyBeside(target)] : [target]
  for (const name of targets)
    if (existsSync(name)) throw new Error(`${name} exists already. A backup never overwrites a file.`)

  const suffix = `.partial-${randomBytes(4).toString('hex')}`
  const partial = (name: string) => name + suffix
  const published: string[] = []
  try {
    // Made first, empty and closed to others: SQLite would let everybody read it.
    closeSync(openSync(partial(target), 'wx', 0o600))
    copyDatabase(source, partial(target))
    if (key) copyPrivately(key, partial(keyBeside(target)))
    for (const name of targets) syncFile(partial(name))
    // The key first: a copy whose key is missing would look like a whole backup.
    for (const name of targets.toReversed()) {
      renameSync(partial(name), name)
      published.push(name)
    }
    syncFile(dirname(target))
  } catch (error) {
    for (const name of published) rmSync(name, { force: true })
    throw error
  } finally {
    for (const name of targets) rmSync(partial(name), { force: true })
  }
  return targets
}

// One read transaction: it sees one moment and makes no writer wait. A damaged database fails here, not years later.
function copyDatabase(source: string, target: string) {
  const database = new DatabaseSync(source, { readOnly: true })
  try {
    database.exec('PRAGMA busy_timeout = 5000')
    database.prepare('VACUUM INTO ?').run(target)
  } finally {
    database.close()
  }
}

/** Copies a file so that only its owner ever can read the copy; throws when the name is taken. */
export function copyPrivately(from: string, to: string): void {
  closeSync(openSync(to, 'wx', 0o600))
  copyFileSync(from, to)
  // The copy takes over the mode of its source.
  chmodSync(to, 0o600)
}

/** Returns when the file, or the names in a folder, are on the disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // Windows syncs neither folders nor files that are open for reading.
    if (process.platform !== 'win32') throw error
  } finally {
    closeSync(descriptor)
  }
}
