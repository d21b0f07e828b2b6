import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { WallClock } from '../clock.ts'
import { troubleOf } from './errors.ts'
import type { News } from './news.ts'
import { withConnection } from './statements/prepare.ts'
import type { Tables } from './tables.ts'

/** The handle that every query function takes first: the database itself (reads) or an open transaction. */
export type Db = Kysely<Tables>

/** Does the work on a handle for reading alone, with every write that was acknowledged before. */
export type Reading = <T>(work: (db: Db) => Promise<T>) => Promise<T>

/** An open database. Both engines give exactly this. */
export type Database = {
  db: Db
  engine: 'sqlite' | 'postgres'
  /** For lists and searches: on PostgreSQL with a replica, that is where they are read. */
  reading: Reading
  /** The clock that all processes on this database show: on PostgreSQL its server's, else this machine's. */
  clock: WallClock
  /**
   * Calls the listener, on a later turn of the event loop, after commits that were announced with such news: those of
   * this process at once, on PostgreSQL also those of others, soon after.
   */
  onCommit(news: News, listener: () => void): void
  /** Calls the listener with the size of each commit group, for /metrics. */
  onGroup(listener: (size: number) => void): void
  /**
   * Calls the listener with the first words of each statement that held the event loop longer than 50 ms, and the
   * milliseconds. On SQLite, whose statements run in this process.
   */
  onSlow(listener: (statement: string, ms: number) => void): void
  close(): Promise<void>
}

const most_retries = 3

/**
 * Runs the work in one transaction: all of it is committed and durable when the promise resolves, or none of it. Where
 * several processes write, the work is done again, at most three times, when it met with another transaction (a deadlock
 * or a serialisation failure): it must do nothing that the rollback does not undo.
 */
export async function transaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await db.transaction().execute((tx) => withConnection(tx, work))
    } catch (error) {
      if (retries === most_retries || troubleOf(error) !== 'again') throw error
      // Those that met must not meet again at once.
      await pause(Math.random() * 20 * 2 ** retries)
    }
  }
}
