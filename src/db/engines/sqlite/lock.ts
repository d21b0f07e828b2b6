import { chmodSync, closeSync, lstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { giveToOwner, makeFolder, writeProblem } from '../../folder.ts'

/**
 * Locks a data folder, so that one process serves it. Returns the function that unlocks it. Throws when another process
 * holds the lock. It is SQLite's lock on a separate file, so the system releases it with the process, also after kill -9.
 */
export function lockFolder(data_dir: string): () => void {
  makeFolder(data_dir, 0o700)
  const file = join(data_dir, 'serve.lock')
  // SQLite also opens a file that it cannot write, and then locks nothing.
  const problem = writeProblem(data_dir) ?? writeProblem(file)
  if (problem) throw new Error(`${problem.message} ${problem.mend}`)
  // SQLite would follow a link, and make a file at its end.
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new Error(`${file} is not a regular file. Remove it.`)
  makePrivate(file)
  try {
    return lockFile(file)
  } catch (error) {
    // SQLITE_BUSY, also with a reason in the higher bits.
    if (((error as { errcode?: number }).errcode ?? 0) % 256 !== 5) throw error
    throw new Error(`Another process already serves ${data_dir}. Stop it, or set DATA_DIR to another folder.`)
  }
}

/** Locks a file, which it makes, for this process. Waits at most `wait_ms` for another one. Returns the function that unlocks it. */
export function lockFile(file: string, wait_ms = 0): () => void {
  const lock = new DatabaseSync(file)
  try {
    lock.exec(`PRAGMA busy_timeout = ${wait_ms}; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE`)
  } catch (error) {
    lock.close()
    throw error
  }
  return () => lock.close()
}

// A user who can read the file can lock it. Earlier versions made it readable by everybody.
function makePrivate(file: string): void {
  try {
    // Opens no existing file: a close would drop this process's lock on it.
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
  // First, so that root changes no mode in another user's folder.
  giveToOwner(file)
  const { uid, mode } = lstatSync(file)
  if (uid !== process.getuid?.() || (mode & 0o077) === 0) return
  try {
    chmodSync(file, 0o600)
  } catch {
    // Some file systems have one mode for all files.
  }
}
