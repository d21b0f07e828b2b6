import type { CompiledQuery, DatabaseConnection, Kysely, QueryExecutorProvider } from 'kysely'
import type { CommitTopic } from '../commit-topics.ts'
import type { Db } from '../db.ts'

/** A placeholder for a parameter while a query is built. */
export class ParameterSlot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

// The parameters with which a prepared query is built: each property is a placeholder with its name.
export const slots = new Proxy({}, { get: (_, name) => new ParameterSlot(String(name)) })

/** The properties that both adapters add to Kysely's adapter. */
export interface Engine {
  readonly engine: 'sqlite' | 'postgres'
  /** Runs a read outside of a transaction without Kysely's overhead; null when the statement returns no rows. */
  read(sql: string, parameters: readonly unknown[]): unknown[] | null | Promise<unknown[]>
}

/** The adapter of a handle. All transactions of a database share it. */
const adapterOf = (db: Db) => (db as Kysely<unknown>).getExecutor().adapter as unknown as Engine

/** The engine of a handle, for statements that differ between the engines. */
export const engineOf = (db: Db): Engine['engine'] => adapterOf(db).engine

/** A query that was compiled once and should stay prepared on the connection. */
export type Prepared = CompiledQuery & {
  prepared: true
  /** On SQLite: run the query once for each of these parameter lists, instead of once with `parameters`. */
  each?: readonly (readonly unknown[])[]
}

/** The properties that both connections add to Kysely's connection. */
export interface Connection extends DatabaseConnection {
  /** The topics of which listeners are notified after this transaction commits. */
  announces: readonly CommitTopic[]
  /** The statements that the commit waits for (see defer). */
  deferred: Promise<unknown>[]
  /** Called when the work of the transaction has ended (see beforeCommit). */
  last: (() => void)[]
  /** Whether other transactions wait for the end of this one. Never on PostgreSQL. */
  readonly is_awaited: boolean
  /** Writes early what the commit of a large transaction would otherwise write. A no-op on PostgreSQL. */
  writeAhead(): void
}

const connections = new WeakMap<object, Connection>()

/** Makes a connection available to run(), defer() and announce() for a handle of the same transaction. */
export const connect = (handle: Db, connection: Connection): unknown => connections.set(handle, connection)

/** Runs the work of a transaction and makes its connection available to run() and announce(). */
export async function withConnection<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  const connection = (await (tx as Kysely<unknown>)
    .getExecutor()
    .provideConnection(async (given) => given)) as Connection
  connections.set(tx, connection)
  try {
    const result = await work(tx)
    for (const write of connection.last) write()
    return result
  } finally {
    connections.delete(tx)
  }
}

/**
 * Runs a compiled query. In a transaction it uses the connection directly, so independent statements can be sent together.
 * Kysely would send one statement after the other.
 */
export async function run<R>(db: Db, query: CompiledQuery): Promise<R[]> {
  const connection = connections.get(db)
  return (await (connection ? connection.executeQuery<R>(query) : db.executeQuery<R>(query))).rows
}

/**
 * Lets the commit wait for an issued statement whose result is not needed. If the statement fails, the commit fails
 * with its error. PostgreSQL gets it together with the next statements, which saves a round trip.
 */
export function defer(tx: Db, statement: Promise<unknown>): void {
  // The commit throws the error. Until then, and outside of a transaction, an unhandled rejection would end the process.
  statement.catch(() => {})
  connectionOf(tx, 'defer').deferred.push(statement)
}

/**
 * Calls `write` when the work of the transaction has ended. It defers statements, which PostgreSQL gets together with the
 * COMMIT. So a lock that they take is held for a short time, and nothing is locked after it.
 */
export const beforeCommit = (tx: Db, write: () => void): unknown =>
  connectionOf(tx, 'beforeCommit').last.push(write)

/** Notifies the listeners of a topic after this transaction commits. */
export function announce(tx: Db, topic: CommitTopic): void {
  const connection = connectionOf(tx, 'announce')
  if (!connection.announces.includes(topic)) connection.announces = [...connection.announces, topic]
}

/** Whether other transactions of this process wait for the end of this one: on SQLite, one at a time writes. */
export const isAwaited = (tx: Db): boolean => connectionOf(tx, 'isAwaited').is_awaited

/**
 * On SQLite, writes the search index of the records so far, which the commit of a large transaction would write. So the
 * commit is short, also when it comes early because another transaction waits.
 */
export const writeAhead = (tx: Db): void => connectionOf(tx, 'writeAhead').writeAhead()

/** The connection of a transaction. Throws outside of one; `caller` is the function that needs it. */
export function connectionOf(tx: Db, caller: string): Connection {
  const connection = connections.get(tx)
  if (!connection) throw new Error(`${caller}() must be called inside of a transaction.`)
  return connection
}

/** A query of Kysely's builder, or a text of `sql`. */
export type Statement<R = unknown> = { compile(db: QueryExecutorProvider): CompiledQuery<R> }

/** Compiles a query at its first use, once for each database. */
export function compileOnce(build: (db: Db) => Statement): (db: Db) => Prepared {
  const compiled = new WeakMap<object, Prepared>()
  return (db) => {
    const engine = adapterOf(db)
    let query = compiled.get(engine)
    if (!query) {
      query = { ...build(db).compile(db), prepared: true }
      compiled.set(engine, query)
    }
    return query
  }
}

/**
 * Builds a query once and then runs it with new parameters: building takes seven times as long as running. The build
 * function may pass parameters on as values, but must not read them.
 */
export function prepare<P extends object, R>(build: (parameters: P, db: Db) => Statement<R>) {
  const compiled = compileOnce((db) => build(slots as P, db))
  return async (db: Db, parameters: P): Promise<R[]> => {
    const query = compiled(db)
    const values = query.parameters.map((value) =>
      value instanceof ParameterSlot ? parameters[value.name as keyof P] : value,
    )
    if (!db.isTransaction) {
      const rows = adapterOf(db).read(query.sql, values)
      // Every read comes here, so await only what is a promise.
      if (rows) return (Array.isArray(rows) ? rows : await rows) as R[]
    }
    return run<R>(db, { ...query, parameters: values })
  }
}

/** Caches a value for each key, such as a query for each table. */
export function perKey<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const cache = new Map<Key, Value>()
  return (key) => {
    const value = cache.get(key) ?? make(key)
    cache.set(key, value)
    return value
  }
}
