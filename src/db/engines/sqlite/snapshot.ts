import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Kysely } from 'kysely'
import type { Snapshot } from '../../db.ts'
import type { Tables } from '../../tables.ts'
import { readingDialect } from './dialect.ts'
import type { OnSlow } from './watch.ts'

/** Opens a connection that reads the present state of the file until it is closed. Writers do not wait for it. */
export function openSnapshot(file: string, pragmas: string, onSlow: OnSlow): Snapshot {
  const connection = new DatabaseSync(file)
  try {
    connection.exec(`${pragmas} PRAGMA query_only = ON; BEGIN;`)
    // The transaction gets its state with its first read.
    connection.prepare('SELECT count(*) FROM schema_migrations').get()
  } catch (error) {
    connection.close()
    throw error
  }
  return {
    db: new Kysely<Tables>({ dialect: readingDialect(connection, onSlow) }),
    async close() {
      connection.close()
    },
  }
}

/** Opens a file to read it, and changes neither the file nor its folder. Beside a process that serves it, the -shm file changes. */
export function openUnchanged(file: string): Snapshot {
  const url = pathToFileURL(file)
  // A process that serves has a write-ahead log beside the file. Without one, a reader would make it.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1')
  const connection = new DatabaseSync(url, { readOnly: true, timeout: 5000 })
  return {
    db: new Kysely<Tables>({ dialect: readingDialect(connection, () => {}) }),
    async close() {
      connection.close()
    },
  }
}
