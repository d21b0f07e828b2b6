import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../folder.ts'

/**
 * Locks a data folder, so that one process serves it. Returns the function that unlocks it. Throws when another process
 * holds the lock. It is SQLite's lock on a separate file, so the system releases it with the process, also after kill -9.
 */
export function lockFolder(data_dir: string): () => void {
  makeFolder(data_dir)
  const lock = new DatabaseSync(join(data_dir, 'serve.lock'))
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new Error(`Another process already serves ${data_dir}. Stop it, or set DATA_DIR to another folder.`)
  }
  return () => lock.close()
}
