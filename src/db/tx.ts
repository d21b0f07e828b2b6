import {
  CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  type QueryExecutor,
  type QueryResult,
  Transaction,
} from 'kysely'
import type { CommitTopic } from './commit-topics.ts'
import type { Tables } from './tables.ts'

export type EngineName = 'sqlite' | 'postgres'

/** The properties that both adapters add to Kysely's adapter. */
export interface Engine {
  readonly engine: EngineName
  /** Runs a read outside of a transaction without Kysely's overhead; null when the statement returns no rows. */
  read(sql: string, parameters: readonly unknown[]): unknown[] | null | Promise<unknown[]>
}

/** The handle that every query function takes first: the database itself (reads) or an open transaction. */
export type Db = Kysely<Tables>

/** The adapter of a handle. All transactions of a database share it. */
export const adapterOf = (db: Db): Engine => db.getExecutor().adapter as unknown as Engine

/** The engine of a handle, for statements that differ between the engines. */
export const engineOf = (db: Db): EngineName => adapterOf(db).engine

/** The properties that both connections add to Kysely's connection. */
export interface Connection extends DatabaseConnection {
  /** The topics of which listeners are notified after this transaction commits. */
  announces: readonly CommitTopic[]
  /** The statements that the commit waits for (see defer). */
  deferred: Promise<unknown>[]
  /** Whether other transactions wait for the end of this one. Never on PostgreSQL. */
  readonly is_awaited: boolean
  /** How long a statement waits for a lock, in ms. SQLite has its own limit, busy_timeout. */
  readonly lock_wait_ms: number
  /** Writes early what the commit of a large transaction would otherwise write. A no-op on PostgreSQL. */
  writeAhead(): void
}

/** Writes rows whose result is not needed. */
export type WriteRows<R> = (tx: Tx, rows: readonly R[]) => Promise<unknown>

/** The state that the transaction and its members share. */
type Shared = {
  /** The values of `once`, by their keys. */
  values: Map<string, unknown>
  /** The rows of `atCommit`, by their kinds. */
  collected: Map<WriteRows<never>, unknown[]>
  /** The rows of `beforeCommit`, by their kinds. */
  last_steps: Map<WriteRows<never>, unknown[]>
  has_ended: boolean
}

// Kysely asks for these, but a transaction uses only its executor.
const unused = { config: {} as never, driver: {} as never, dialect: {} as never }

/**
 * An open transaction. A function that writes takes it as its first argument. A batch gives each item a member
 * (openBulk in statements/bulk.ts): a transaction of its own to the item's code, which shares this state with its root.
 */
export class Tx extends Transaction<Tables> {
  readonly engine: EngineName
  /** The connection. Kysely itself would send one statement after the other. */
  readonly session: Connection
  /** The transaction that commits: of a member, its parent; else itself. */
  readonly root: Tx
  readonly #shared: Shared

  constructor(executor: QueryExecutor, session: Connection, parent?: Tx) {
    super({ ...unused, executor })
    this.engine = parent?.engine ?? engineOf(this)
    this.session = session
    this.root = parent?.root ?? this
    this.#shared = parent
      ? parent.#shared
      : { values: new Map(), collected: new Map(), last_steps: new Map(), has_ended: false }
  }

  /** Runs a compiled query on the connection itself, so that independent statements can be sent together. */
  issue<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.session.executeQuery<R>(query)
  }

  /**
   * Lets the commit wait for an issued statement whose result is not needed. If the statement fails, the commit fails
   * with its error. PostgreSQL gets it together with the next statements, which saves a round trip.
   */
  defer(statement: Promise<unknown>): void {
    if (this.#shared.has_ended) throw new Error('The transaction has ended.')
    // The commit throws the error. Until then, an unhandled rejection would end the process.
    statement.catch(() => {})
    this.session.deferred.push(statement)
  }

  /** Lets the commit wait for rows that are written and whose result is not needed. */
  rows<R>(write: WriteRows<R>, rows: readonly R[]): void {
    if (rows.length) this.defer(write(this, rows))
  }

  /** The value that the first call with this key made, in this transaction. All items of a batch share it. */
  once<T>(key: string, make: (root: Tx) => T): T {
    const { values } = this.#shared
    if (!values.has(key)) values.set(key, make(this.root))
    return values.get(key) as T
  }

  /** The value of `once`, if it has been made. */
  peek<T>(key: string): T | undefined {
    return this.#shared.values.get(key) as T | undefined
  }

  /**
   * Lets the commit write rows, together with all others of the same kind. A rollback to a savepoint drops them again. The kinds
   * are written in the order of their first call, which may have no rows. PostgreSQL gets the statements together with the
   * COMMIT: a lock that they take is held for a short time, and nothing is locked after it.
   */
  atCommit<R>(write: WriteRows<R>, rows: readonly R[]): void {
    collect(this.#shared.collected, write, rows)
  }

  /**
   * The same for a write that reads what it has written: the transaction waits for it before the rows of `atCommit`. Use it for
   * what few transactions do: it costs PostgreSQL a round trip for each step.
   */
  beforeCommit<R>(write: WriteRows<R>, rows: readonly R[]): void {
    collect(this.#shared.last_steps, write, rows)
  }

  /** Notifies the listeners of a topic after this transaction commits. */
  announce(topic: CommitTopic): void {
    const { session } = this
    if (!session.announces.includes(topic)) session.announces = [...session.announces, topic]
  }

  /**
   * Runs the work. Rolls back what it wrote if it throws an error that `undoes` accepts; after another error, the
   * transaction cannot go on. One savepoint at a time is open.
   */
  async savepoint<T>(work: () => Promise<T>, undoes: (error: unknown) => boolean): Promise<T> {
    const all = [this.#shared.collected, this.#shared.last_steps]
    const lengths = new Map(all.flatMap((kinds) => [...kinds]).map(([write, { length }]) => [write, length]))
    await this.#command('SAVEPOINT item')
    try {
      const result = await work()
      await this.#command('RELEASE item')
      return result
    } catch (error) {
      if (!undoes(error)) throw error
      for (const kinds of all) for (const [write, rows] of kinds) rows.splice(lengths.get(write) ?? 0)
      await this.#command('ROLLBACK TO item')
      await this.#command('RELEASE item')
      throw error
    }
  }

  async #command(text: string): Promise<void> {
    await this.session.executeQuery(CompiledQuery.raw(text))
  }

  /** Ends the work: issues the statements that the commit sends last. */
  async end(): Promise<void> {
    const { collected, last_steps } = this.#shared
    for (const [write, rows] of last_steps) if (rows.length) await write(this, rows as never[])
    // A write may collect rows of a kind that comes after it.
    for (const [write, rows] of collected) if (rows.length) this.defer(write(this, rows as never[]))
    this.#shared.has_ended = true
  }
}

function collect<R>(kinds: Shared['collected'], write: WriteRows<R>, rows: readonly R[]): void {
  let all = kinds.get(write as WriteRows<never>)
  if (!all) {
    all = []
    kinds.set(write as WriteRows<never>, all)
  }
  for (const row of rows) all.push(row)
}
