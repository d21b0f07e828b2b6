import type { Compilable, CompiledQuery, DatabaseConnection, Kysely } from 'kysely'
import type { Db } from '../db.ts'
import type { News } from '../news.ts'

/** Stands for a parameter while a query is built. */
export class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

// Values that a hot query is built with once: each stands for the parameter of its name.
export const slots = new Proxy({}, { get: (_, name) => new Slot(String(name)) })

/** What both dialects' adapters add to Kysely's. */
export interface Engine {
  readonly engine: 'sqlite' | 'postgres'
  /** Runs a read outside of a transaction, past Kysely's own way; null when the statement is not one. */
  read(sql: string, parameters: readonly unknown[]): unknown[] | null | Promise<unknown[]>
}

/** The adapter below a handle; transactions of one database share it. */
const adapterOf = (db: Db) => (db as Kysely<unknown>).getExecutor().adapter as unknown as Engine

/** The engine below a handle, for the few statements that differ. */
export const engineOf = (db: Db): Engine['engine'] => adapterOf(db).engine

/** A query whose text was compiled once, and is worth to be kept prepared by the server. */
export type Prepared = CompiledQuery & {
  prepared: true
  /** On SQLite: to be run once for each of these, instead of once with the parameters. */
  each?: readonly (readonly unknown[])[]
}

/** What both dialects' connections add to Kysely's. */
export interface Connection extends DatabaseConnection {
  /** What others are to be told when this transaction is committed. */
  announces: readonly News[]
}

const connections = new WeakMap<object, Connection>()

/** Does the work of a transaction with its connection at hand: see run and announce. */
export async function withConnection<T>(tx: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  const connection = await (tx as Kysely<unknown>).getExecutor().provideConnection(async (one) => one)
  connections.set(tx, connection as Connection)
  try {
    return await work(tx)
  } finally {
    connections.delete(tx)
  }
}

/**
 * Runs a compiled query. In a transaction it goes straight to the connection: Kysely would send one statement after the
 * other, where those that need nothing of each other may travel together.
 */
export async function run<R>(db: Db, query: CompiledQuery): Promise<R[]> {
  const connection = connections.get(db)
  return (await (connection ? connection.executeQuery<R>(query) : db.executeQuery<R>(query))).rows
}

/** When this transaction is committed, whoever listens to such news looks for what is new. */
export function announce(tx: Db, news: News): void {
  const connection = connections.get(tx)
  if (!connection) throw new Error('There is no transaction to announce.')
  if (!connection.announces.includes(news)) connection.announces = [...connection.announces, news]
}

/** Compiles a query when it is first asked for, once for each database. */
export function compileOnce(build: (db: Db) => Compilable): (db: Db) => Prepared {
  const compiled = new WeakMap<object, Prepared>()
  return (db) => {
    const engine = adapterOf(db)
    let query = compiled.get(engine)
    if (!query) {
      query = { ...build(db).compile(), prepared: true }
      compiled.set(engine, query)
    }
    return query
  }
}

/**
 * Builds a query once and runs it with new parameters from then on: building costs seven times what running one does.
 * The build function may use the parameters only as values, never look at them.
 */
export function prepare<P extends object, R>(build: (db: Db, parameters: P) => Compilable<R>) {
  const compiled = compileOnce((db) => build(db, slots as P))
  return async (db: Db, parameters: P): Promise<R[]> => {
    const query = compiled(db)
    const values = query.parameters.map((value) =>
      value instanceof Slot ? parameters[value.name as keyof P] : value,
    )
    if (!db.isTransaction) {
      const rows = adapterOf(db).read(query.sql, values)
      // A promise only where there is one already: this is the way of every read.
      if (rows) return (Array.isArray(rows) ? rows : await rows) as R[]
    }
    return run<R>(db, { ...query, parameters: values })
  }
}

/** Makes something once for each key that it is asked for, such as a query for each table. */
export function perKey<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new Map<Key, Made>()
  return (key) => {
    const made = known.get(key) ?? make(key)
    known.set(key, made)
    return made
  }
}
