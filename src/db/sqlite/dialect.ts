import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { News } from '../news.ts'
import type { Engine, Connection as OurConnection, Prepared } from '../prepare.ts'
import { createGroup } from './group.ts'

type Statement = { run: StatementSync; returns_rows: boolean }

/** Keeps each connection's statements prepared. Texts come from the code alone, so their number is bounded. */
function statementsOf(connection: DatabaseSync) {
  const prepared = new Map<string, Statement>()
  return (sql: string): Statement => {
    let statement = prepared.get(sql)
    if (!statement) {
      const run = connection.prepare(sql)
      statement = { run, returns_rows: run.columns().length > 0 }
      prepared.set(sql, statement)
      if (prepared.size > 500) prepared.delete(prepared.keys().next().value as string)
    }
    return statement
  }
}

/**
 * Kysely's dialect for node:sqlite: one connection that writes, in groups, and one that reads what is committed.
 * A connection handle reads until its transaction begins; a write outside of a transaction is refused by SQLite.
 */
export function sqliteDialect(
  writer: DatabaseSync,
  reader: DatabaseSync,
  onCommit: (news: readonly News[]) => void,
  onGroup: (size: number) => void,
): Dialect {
  const group = createGroup(writer, onGroup)
  const written = statementsOf(writer)
  const read = statementsOf(reader)

  class Connection implements OurConnection {
    statement = read
    announces: readonly News[] = []
    /** What the database refused in this transaction. */
    failure: unknown

    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      // After an error that ended the transaction, a statement would be committed by itself.
      if (this.statement === written && !writer.isTransaction)
        throw this.failure ?? new Error('The transaction has ended.')
      try {
        const { run, returns_rows } = this.statement(query.sql)
        const { each } = query as Prepared
        if (each) return { rows: each.flatMap((one) => run.all(...(one as SQLInputValue[]))) as R[] }
        const parameters = query.parameters as SQLInputValue[]
        if (returns_rows) return { rows: run.all(...parameters) as R[] }
        const { changes, lastInsertRowid } = run.run(...parameters)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      } catch (error) {
        this.failure = error
        throw error
      }
    }

    // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams
    async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
      throw new Error('Streaming is not supported.')
    }
  }

  const driver: Driver = {
    async init() {},
    async acquireConnection() {
      return new Connection()
    },
    async beginTransaction(connection) {
      await group.begin()
      ;(connection as Connection).statement = written
    },
    async commitTransaction(connection) {
      const one = connection as Connection
      one.statement = read
      await group.commit()
      if (one.announces.length) onCommit(one.announces)
    },
    async rollbackTransaction(connection) {
      // A failed group commit is rolled back already, and this handle reads again.
      if ((connection as Connection).statement === read) return
      ;(connection as Connection).statement = read
      group.rollback((connection as Connection).failure)
    },
    async releaseConnection() {},
    async destroy() {},
  }

  // Handles are many here: the groups order the writers, so Kysely must not queue them one by one.
  class Adapter extends SqliteAdapter implements Engine {
    readonly engine = 'sqlite'
    override get supportsMultipleConnections() {
      return true
    }
    // At once, without a connection of its own: the reader is there and waits for nothing.
    read(sql: string, parameters: readonly unknown[]) {
      const { run, returns_rows } = read(sql)
      return returns_rows ? run.all(...(parameters as SQLInputValue[])) : null
    }
  }
  const adapter = new Adapter()
  return {
    createDriver: () => driver,
    createAdapter: () => adapter,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}
