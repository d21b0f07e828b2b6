import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { News } from '../../news.ts'
import type { Engine, Connection as OurConnection, Prepared } from '../../statements/prepare.ts'
import { createGroup } from './group.ts'
import { createWatch, type OnSlow } from './watch.ts'

// Rows that a statement is run for in one go: more of them let the loop turn in between.
const most_at_once = 50

type Statement = { prepared: StatementSync; returns_rows: boolean }

export type Listeners = {
  onCommit: (news: readonly News[]) => void
  onGroup: (size: number) => void
  onSlow: OnSlow
}

/** Keeps each connection's statements prepared. Texts come from the code alone, so their number is bounded. */
function statementsOf(connection: DatabaseSync) {
  const statements = new Map<string, Statement>()
  return (sql: string): Statement => {
    let statement = statements.get(sql)
    if (!statement) {
      const prepared = connection.prepare(sql)
      statement = { prepared, returns_rows: prepared.columns().length > 0 }
      statements.set(sql, statement)
      if (statements.size > 500) statements.delete(statements.keys().next().value as string)
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
  { onCommit, onGroup, onSlow }: Listeners,
): Dialect {
  const watch = createWatch(onSlow)
  const group = createGroup(writer, watch, onGroup)
  const written = statementsOf(writer)
  const read = statementsOf(reader)

  class Connection implements OurConnection {
    statement = read
    announces: readonly News[] = []
    /** What the database refused in this transaction. */
    failure: unknown
    /** Ends with the last statement that waits for a turn of the loop; those issued after it wait behind it. */
    tail: Promise<void> | null = null

    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const rows = (query as Prepared).each?.length ?? 1
      const at_once = this.tail === null && rows <= most_at_once && !group.isTurnOver()
      return this.statement === read || at_once ? this.execute(query) : this.executeInTurns(query)
    }

    execute<R>(query: CompiledQuery, each = (query as Prepared).each): QueryResult<R> {
      // After an error that ended the transaction, a statement would be committed by itself.
      if (this.statement === written && !writer.isTransaction)
        throw this.failure ?? new Error('The transaction has ended.')
      try {
        const { prepared, returns_rows } = this.statement(query.sql)
        if (each) return { rows: each.flatMap((one) => watch.all(query.sql, prepared, one)) as R[] }
        if (returns_rows) return { rows: watch.all(query.sql, prepared, query.parameters) as R[] }
        const { changes, lastInsertRowid } = watch.run(query.sql, prepared, query.parameters)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      } catch (error) {
        this.failure = error
        throw error
      }
    }

    // Statements that are issued together run in their order, whichever of them lets the loop turn.
    async executeInTurns<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const before = this.tail
      const { promise, resolve } = Promise.withResolvers<void>()
      this.tail = promise
      try {
        await before
        const { each } = query as Prepared
        if (!each) return this.execute(query, await this.turn())
        const rows: R[] = []
        for (let from = 0; from < each.length; from += most_at_once) {
          await this.turn()
          rows.push(...this.execute<R>(query, each.slice(from, from + most_at_once)).rows)
        }
        return { rows }
      } finally {
        if (this.tail === promise) this.tail = null
        resolve()
      }
    }

    async turn(): Promise<undefined> {
      if (group.isTurnOver()) await group.rest()
      // Rolled back meanwhile: by now the connection may be in the transaction of another one.
      if (this.statement !== written) throw this.failure ?? new Error('The transaction has ended.')
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
      const { prepared, returns_rows } = read(sql)
      return returns_rows ? watch.all(sql, prepared, parameters) : null
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
