import { DatabaseSync } from 'node:sqlite'
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
