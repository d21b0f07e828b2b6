import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import type { Db } from './db.ts'

class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

// Values that a hot query is built with once: each stands for the parameter of its name.
const slots = new Proxy({}, { get: (_, name) => new Slot(String(name)) })

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
export type Prepared = CompiledQuery & { prepared: true }

/**
 * Builds a query once and runs it with new parameters from then on: building costs seven times what running one does.
 * The build function may use the parameters only as values, never look at them.
 */
export function prepare<P extends object, R>(build: (db: Db, parameters: P) => Compilable<R>) {
  const compiled = new WeakMap<object, Prepared>()
  return async (db: Db, parameters: P): Promise<R[]> => {
    const engine = adapterOf(db)
    let query = compiled.get(engine)
    if (!query) {
      query = { ...build(db, slots as P).compile(), prepared: true }
      compiled.set(engine, query)
    }
    const values = query.parameters.map((value) =>
      value instanceof Slot ? parameters[value.name as keyof P] : value,
    )
    if (!db.isTransaction) {
      const rows = engine.read(query.sql, values)
      // A promise only where there is one already: this is the way of every read.
      if (rows) return (Array.isArray(rows) ? rows : await rows) as R[]
    }
    const made: Prepared = { ...query, parameters: values }
    return (await db.executeQuery<R>(made)).rows
  }
}
