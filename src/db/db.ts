import { setTimeout as pause } from 'node:timers/promises'
import type { WallClock } from '../clock.ts'
import type { CommitTopic } from './commit-topics.ts'
import { troubleOf } from './errors.ts'
import { countConnectionWait } from './locks.ts'
import { type Connection, type Db, type EngineName, Tx } from './tx.ts'

export { type Db, Tx } from './tx.ts'

/** Runs read-only work on a handle that sees every write acknowledged before. */
export type Reading = <T>(work: (db: Db) => Promise<T>) => Promise<T>

/** A state of the database that does not change while it is read. It has a connection of its own. */
export type Snapshot = { db: Db; close(): Promise<void> }

/** The connections of this process to PostgreSQL, and how much work waits for one. */
export type PoolNumbers = { busy: number; idle: number; waiting: number }

/** An open database of either engine. */
export type Database = {
  db: Db
  engine: EngineName
  /** For lists and searches. With a PostgreSQL replica, they are read there. */
  reading: Reading
  /** For reads that take long, such as an export. Holds up no writer. Close it: it keeps old rows from being removed. */
  openSnapshot(): Promise<Snapshot>
  /** The wall clock of all processes on this database: the server's on PostgreSQL, else this machine's. */
  clock: WallClock
  /**
   * Calls the listener on a later turn of the event loop, after commits that announced the topic. On PostgreSQL it is
   * also called after commits of other processes, within about 20 ms.
   */
  onCommit(topic: CommitTopic, listener: () => void): void
  /** Calls the listener with the size of each commit group, for /metrics. */
  onGroup(listener: (size: number) => void): void
  /**
   * Calls the listener for each statement that blocked the event loop for more than 50 ms. It gets the first words and
   * the time. Only SQLite's statements run in this process.
   */
  onSlow(listener: (statement: string, ms: number) => void): void
  /** For /metrics; null on SQLite. A replica's connections are not counted. */
  pool(): PoolNumbers | null
  close(): Promise<void>
}

const max_retries = 3

/** Rolls a transaction back, and carries its result. */
class NotKept extends Error {
  readonly result: unknown
  constructor(result: unknown) {
    super('The result is not kept.')
    this.result = result
  }
}

type TransactionOptions<T> = {
  /** For many writes: on SQLite, the transaction is the first of its commit. Only small ones share the commit. */
  large?: boolean
  /** When the caller began to wait for the database, in ms of performance.now(). */
  since_ms?: number
  /** A transaction whose result is not kept is rolled back, and returns it all the same: for dry runs. */
  keeps?(result: T): boolean
}

/**
 * Runs the work in one transaction. When the promise resolves, the work is committed and durable; when it rejects, it is
 * rolled back. After a deadlock or a serialisation failure the work runs again, at most three times. So it may have no
 * effect that a rollback does not undo. On PostgreSQL, a wait for a connection shortens the wait for locks.
 */
export async function transaction<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  { large = false, since_ms = performance.now(), keeps = () => true }: TransactionOptions<T> = {},
): Promise<T> {
  let waiting_since_ms = since_ms
  for (let retries = 0; ; retries++) {
    try {
      const begin = db.transaction()
      // The dialect of SQLite reads this level as `large`. PostgreSQL's ignores it.
      const chosen = large ? begin.setIsolationLevel('serializable') : begin
      return await chosen.execute(async (handle) => {
        const executor = handle.getExecutor()
        const session = await executor.provideConnection(async (connection) => connection as Connection)
        const tx = new Tx(executor, session)
        countConnectionWait(tx, performance.now() - waiting_since_ms)
        const result = await work(tx)
        if (!keeps(result)) throw new NotKept(result)
        await tx.end()
        return result
      })
    } catch (error) {
      if (error instanceof NotKept) return error.result as T
      if (retries === max_retries || troubleOf(error) !== 'retry') throw error
      // Back off for a random time, so that the same transactions do not collide again.
      await pause(Math.random() * 20 * 2 ** retries)
      // The work of this try was not a wait.
      waiting_since_ms = performance.now()
    }
  }
}
