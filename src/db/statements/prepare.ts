import type { CompiledQuery, QueryExecutorProvider } from 'kysely'
import { adapterOf, type Db, Tx } from '../tx.ts'

/** A placeholder for a parameter while a query is built. */
export class ParameterSlot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

// The parameters with which a prepared query is built: each property is a placeholder with its name.
export const slots = new Proxy({}, { get: (_, name) => new ParameterSlot(String(name)) })

/** A query that was compiled once and should stay prepared on the connection. */
export type Prepared = CompiledQuery & {
  prepared: true
  /** On SQLite: run the query once for each of these parameter lists, instead of once with `parameters`. */
  each?: readonly (readonly unknown[])[]
}

/**
 * Runs a compiled query. In a transaction it uses the connection directly, so independent statements can be sent together.
 * Kysely would send one statement after the other.
 */
export async function run<R>(db: Db, query: CompiledQuery): Promise<R[]> {
  return (await (db instanceof Tx ? db.issue<R>(query) : db.executeQuery<R>(query))).rows
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
