import { chmodSync, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { systemClock } from '../../../clock.ts'
import { createListeners } from '../../commit-topics.ts'
import type { Database } from '../../db.ts'
import { giveToOwner, makeFolder } from '../../folder.ts'
import type { Tables } from '../../tables.ts'
import { type Listeners, sqliteDialect } from './dialect.ts'
import { openSnapshot } from './snapshot.ts'
import type { OnSlow } from './watch.ts'

/** The database file inside a data folder. */
export const databaseFile = (data_dir: string) => join(data_dir, 'rapport.db')

/** Whether a data folder has a database. Throws if this user may not know. */
export const hasDatabase = (data_dir: string): boolean =>
  statSync(databaseFile(data_dir), { throwIfNoEntry: false }) !== undefined

// synchronous = FULL: an acknowledged commit survives a power cut. Set the timeout first: several processes may open a
// new file at once. 8 MiB of cache for each connection are enough, because the operating system caches the file too. A
// mapped file or a larger cache saves no CPU, but counts as memory of this process.
const pragmas = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = -8192;
  PRAGMA temp_store = MEMORY;
`

/** Opens the SQLite file, or creates it, readable only by its owner. Several processes may open it: SQLite locks it. */
export function openSqlite(file: string): Database {
  makeFolder(dirname(file))
  const fresh = !existsSync(file)
  const writer = new DatabaseSync(file)
  const reader = new DatabaseSync(file)
  try {
    if (fresh) {
      chmodSync(file, 0o600)
      giveToOwner(file)
    }
    // The commit group waits for other writers without blocking the process (group.ts).
    writer.exec(`${pragmas} PRAGMA busy_timeout = 0;`)
    reader.exec(`${pragmas} PRAGMA query_only = ON;`)
  } catch (error) {
    reader.close()
    writer.close()
    throw error
  }

  const { listen, notifyListeners } = createListeners()
  const group_listeners: ((size: number) => void)[] = []
  const slow_listeners: OnSlow[] = []
  const listeners: Listeners = {
    onCommit: notifyListeners,
    onGroup(size) {
      for (const listener of group_listeners) listener(size)
    },
    onSlow(statement, ms) {
      for (const listener of slow_listeners) listener(statement, ms)
    },
  }

  const db = new Kysely<Tables>({ dialect: sqliteDialect(writer, reader, listeners) })
  return {
    db,
    engine: 'sqlite',
    reading: (work) => work(db),
    openSnapshot: async () => openSnapshot(file, pragmas, listeners.onSlow),
    clock: systemClock,
    onCommit: listen,
    onGroup: (listener) => void group_listeners.push(listener),
    onSlow: (listener) => void slow_listeners.push(listener),
    pool: () => null,
    async close() {
      await db.destroy()
      reader.close()
      writer.close()
    },
  }
}
