import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { systemClock } from '../../../clock.ts'
import type { Database } from '../../db.ts'
import { createListeners } from '../../news.ts'
import type { Tables } from '../../tables.ts'
import { type Listeners, sqliteDialect } from './dialect.ts'
import type { OnSlow } from './watch.ts'

/** The database file inside a data folder. */
export const databaseFile = (data_dir: string) => join(data_dir, 'rapport.db')

// FULL: an acknowledged commit survives a power cut. The time-out comes first: several processes may open a new file.
const pragmas = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = -65536;
  PRAGMA mmap_size = 1073741824;
  PRAGMA temp_store = MEMORY;
`

/** Opens (or makes, readable by its owner only) the SQLite file. Several processes may: SQLite's locks keep them apart. */
export function openSqlite(file: string): Database {
  mkdirSync(dirname(file), { recursive: true })
  const fresh = !existsSync(file)
  const writer = new DatabaseSync(file)
  const reader = new DatabaseSync(file)
  try {
    if (fresh) chmodSync(file, 0o600)
    // The groups wait for other writers by themselves.
    writer.exec(`${pragmas} PRAGMA busy_timeout = 0;`)
    reader.exec(`${pragmas} PRAGMA query_only = ON;`)
  } catch (error) {
    reader.close()
    writer.close()
    throw error
  }

  const { listen, tell } = createListeners()
  const group_listeners: ((size: number) => void)[] = []
  const slow_listeners: OnSlow[] = []
  const listeners: Listeners = {
    onCommit: tell,
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
    clock: systemClock,
    onCommit: listen,
    onGroup: (listener) => void group_listeners.push(listener),
    onSlow: (listener) => void slow_listeners.push(listener),
    async close() {
      await db.destroy()
      reader.close()
      writer.close()
    },
  }
}
