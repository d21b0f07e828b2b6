import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { hasNoLinks } from '../../folder.ts'
import { keyFile } from '../../seal.ts'
import { databaseFile, hasDatabase } from './open.ts'

/** The file of the key that belongs to a backup. */
export const keyBeside = (file: string) => `${file}.key`

/**
 * Writes a consistent copy of a data folder's database to `file`, also while a server writes. `with_key` also copies the
 * key file. Both files are readable only by their owner, and appear complete or not at all. Returns the file names.
 * Throws when a file with one of the names exists.
 */
export function writeBackup(data_dir: string, file: string, with_key: boolean): string[] {
  const target = resolve(file)
  const source = databaseFile(data_dir)
  if (!hasDatabase(data_dir))
    throw new Error(`There is no database in ${data_dir}. Set DATA_DIR to the folder of the server.`)
  if (!statSync(dirname(target), { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The folder ${dirname(target)} does not exist. Create it first.`)
  const key = with_key && existsSync(keyFile(data_dir)) ? keyFile(data_dir) : null
  const targets = key ? [target, keyBeside(target)] : [target]
  for (const name of targets) if (existsSync(name)) throw taken(name)

  const suffix = `.partial-${randomBytes(4).toString('hex')}`
  const partial = (name: string) => name + suffix
  const published: string[] = []
  try {
    // Create the file with mode 600 first: SQLite would make it readable by everybody.
    closeSync(openSync(partial(target), 'wx', 0o600))
    copyDatabase(source, partial(target))
    if (key) copyPrivately(key, partial(keyBeside(target)))
    for (const name of targets) syncFile(partial(name))
    // Publish the key first: a database without its key would look like a complete backup.
    for (const name of targets.toReversed()) {
      publish(partial(name), name)
      published.push(name)
    }
    syncFile(dirname(target))
  } catch (error) {
    for (const name of published) rmSync(name, { force: true })
    if (!isFull(error)) throw error
    throw new Error(
      `The disk of ${dirname(target)} is full. Make room, or give a file on another disk. Nothing was written.`,
    )
  } finally {
    // SQLite leaves the journal when the disk is full.
    for (const name of targets.map(partial))
      for (const left of [name, `${name}-journal`]) rmSync(left, { force: true })
  }
  return targets
}

const taken = (name: string) =>
  new Error(`${name} already exists. A backup never overwrites a file: give another name.`)

// A link fails if another backup has made the file meanwhile. A rename would replace it.
function publish(partial: string, name: string): void {
  try {
    linkSync(partial, name)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST' || existsSync(name)) throw taken(name)
    if (!hasNoLinks(error)) throw error
    renameSync(partial, name)
  }
}

// SQLITE_FULL, and the error of other writes.
const isFull = (error: unknown) => {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return code === 'ENOSPC' || errcode === 13
}

// VACUUM INTO reads in one transaction: a consistent state, without blocking writers. It fails on a damaged database.
function copyDatabase(source: string, target: string) {
  const database = new DatabaseSync(source, { readOnly: true })
  try {
    database.exec('PRAGMA busy_timeout = 5000')
    database.prepare('VACUUM INTO ?').run(target)
  } finally {
    database.close()
  }
}

/** Copies a file. Only the owner can read the copy at any time. Throws when the target exists. */
export function copyPrivately(from: string, to: string): void {
  closeSync(openSync(to, 'wx', 0o600))
  copyFileSync(from, to)
  // copyFileSync copies the mode of the source, so set it again.
  chmodSync(to, 0o600)
}

/** Flushes a file, or the names in a folder, to the disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } catch (error) {
    // Windows cannot flush folders, or files that are open for reading.
    if (process.platform !== 'win32') throw error
  } finally {
    closeSync(descriptor)
  }
}
