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
import type { CommitTopic } from '../../commit-topics.ts'
import type { Prepared } from '../../statements/prepare.ts'
import type { Engine, Connection as OurConnection } from '../../tx.ts'
import { readingDriver, refuseStream } from '../reading.ts'
import { createCheckpoints } from './checkpoint.ts'
import { busy_timeout_ms, createGroup } from './group.ts'
import { createSearchIndex } from './search-index.ts'
import { createWatch, type OnSlow } from './watch.ts'

// For more rows than this, a statement yields to the event loop between batches.
const max_rows_at_once = 50

// SQLite recompiles a statement at each execution if a parameter follows LIMIT, because its value may allow a better plan.
// It does not look into an expression. Compiling takes 20 to 150 µs, running such a statement often less than 10.
const limit = /\b(limit) \?/gi

type Statement = { prepared: StatementSync; returns_rows: boolean }

export type Listeners = {
  onCommit: (topics: readonly CommitTopic[]) => void
  onGroup: (size: number) => void
  onSlow: OnSlow
}

/** Caches up to 500 prepared statements of a connection. */
function statementsOf(connection: DatabaseSync) {
  const statements = new Map<string, Statement>()
  return (sql: string): Statement => {
    let statement = statements.get(sql)
    if (!statement) {
      const prepared = connection.prepare(sql.replace(limit, '$1 +?'))
      statement = { prepared, returns_rows: prepared.columns().length > 0 }
      statements.set(sql, statement)
      if (statements.size > 500) statements.delete(statements.keys().next().value as string)
    }
    return statement
  }
}

/** Kysely's dialect for a connection that only reads. */
export function readingDialect(reader: DatabaseSync, onSlow: OnSlow): Dialect {
  const watch = createWatch(onSlow)
  const statementOf = statementsOf(reader)
  const read = (sql: string, parameters: readonly unknown[]) =>
    watch.all(sql, statementOf(sql).prepared, parameters)
  class Adapter extends SqliteAdapter implements Engine {
    readonly engine = 'sqlite'
    read = read
  }
  const adapter = new Adapter()
  return {
    createDriver: () => readingDriver(read, 'This connection only reads.'),
    createAdapter: () => adapter,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

/**
 * Kysely's dialect for node:sqlite: one connection writes, in groups, and one reads committed rows. A handle reads until
 * its transaction begins. SQLite refuses a write outside of a transaction.
 */
export function sqliteDialect(
  writer: DatabaseSync,
  reader: DatabaseSync,
  { onCommit, onGroup, onSlow }: Listeners,
): Dialect {
  const watch = createWatch(onSlow)
  const checkpoints = createCheckpoints(writer.location() ?? '')
  const group = createGroup(writer, watch, createSearchIndex(writer, watch), checkpoints, onGroup)
  const written = statementsOf(writer)
  const read = statementsOf(reader)

  class Connection implements OurConnection {
    statement = read
    announces: readonly CommitTopic[] = []
    deferred: Promise<unknown>[] = []
    last: (() => void)[] = []
    get is_awaited() {
      return group.isAwaited()
    }
    readonly lock_wait_ms = busy_timeout_ms
    writeAhead() {
      try {
        group.writeAhead()
      } catch (error) {
        this.failure = error
        throw error
      }
    }
    /** The database error of this transaction. */
    failure: unknown
    /** Resolves when the last yielding statement ends. Later statements wait for it. */
    tail: Promise<void> | null = null

    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const rows = (query as Prepared).each?.length ?? 1
      const at_once = this.tail === null && rows <= max_rows_at_once && !group.isTurnOver()
      return this.statement === read || at_once ? this.execute(query) : this.executeInTurns(query)
    }

    execute<R>(query: CompiledQuery, each = (query as Prepared).each): QueryResult<R> {
      // Some errors end the transaction. A later statement would then commit by itself.
      if (this.statement === written && !writer.isTransaction)
        throw this.failure ?? new Error('The transaction has ended.')
      try {
        const { prepared, returns_rows } = this.statement(query.sql)
        if (each) return { rows: each.flatMap((values) => watch.all(query.sql, prepared, values)) as R[] }
        if (returns_rows) return { rows: watch.all(query.sql, prepared, query.parameters) as R[] }
        const { changes, lastInsertRowid } = watch.run(query.sql, prepared, query.parameters)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      } catch (error) {
        this.failure = error
        throw error
      }
    }

    // Statements that are issued together run in order, also when some of them yield.
    async executeInTurns<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const before = this.tail
      const { promise, resolve } = Promise.withResolvers<void>()
      this.tail = promise
      try {
        await before
        const { each } = query as Prepared
        if (!each) return this.execute(query, await this.turn())
        const rows: R[] = []
        for (let from = 0; from < each.length; from += max_rows_at_once) {
          await this.turn()
          rows.push(...this.execute<R>(query, each.slice(from, from + max_rows_at_once)).rows)
        }
        return { rows }
      } finally {
        if (this.tail === promise) this.tail = null
        resolve()
      }
    }

    async turn(): Promise<undefined> {
      if (group.isTurnOver()) await group.yieldTurn()
      // After a rollback, the connection may already run another transaction.
      if (this.statement !== written) throw this.failure ?? new Error('The transaction has ended.')
    }

    streamQuery = refuseStream
  }

  const driver: Driver = {
    async init() {},
    async acquireConnection() {
      return new Connection()
    },
    async beginTransaction(connection, { isolationLevel }) {
      await group.begin(isolationLevel === 'serializable')
      ;(connection as Connection).statement = written
    },
    async commitTransaction(connection) {
      const handle = connection as Connection
      await Promise.all(handle.deferred)
      handle.statement = read
      await group.commit()
      if (handle.announces.length) onCommit(handle.announces)
    },
    async rollbackTransaction(connection) {
      const handle = connection as Connection
      // A failed commit has already rolled back the group.
      if (handle.statement === read) return
      handle.statement = read
      group.rollback(handle.failure)
    },
    async releaseConnection() {},
    destroy: () => checkpoints.close(),
  }

  // Allow many handles: the group orders the writers, so Kysely must not queue them.
  class Adapter extends SqliteAdapter implements Engine {
    readonly engine = 'sqlite'
    override get supportsMultipleConnections() {
      return true
    }
    // Runs at once: the reading connection never waits.
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
