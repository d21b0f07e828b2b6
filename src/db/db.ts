import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** The handle that every query function takes first: the database itself (reads) or an open transaction. */
export type Db = Kysely<Tables>

/** An open database. Both engines give exactly this. */
export type Database = {
  db: Db
  engine: 'sqlite' | 'postgres'
  /** Calls the listener, on a later turn of the event loop, after each commit of this process that wrote. */
  onCommit(listener: () => void): void
  /** Calls the listener with the size of each commit group, for /metrics. */
  onGroup(listener: (size: number) => void): void
  close(): Promise<void>
}

/** Runs the work in one transaction: all of it is committed and durable when the promise resolves, or none of it. */
export function transaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(work)
}
