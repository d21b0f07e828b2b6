import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Makes this the one process that serves a data folder; returns the release. Throws when another one serves it.
 * The lock is SQLite's own lock on a file of its own, so the system drops it with the process, even after kill -9.
 */
export function lockFolder(data_dir: string): () => void {
  mkdirSync(data_dir, { recursive: true })
  const lock = new DatabaseSync(join(data_dir, 'serve.lock'))
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    throw new Error(
      `Another process serves ${data_dir} already. Stop it first, or set DATA_DIR to another folder.`,
    )
  }
  return () => lock.close()
}
