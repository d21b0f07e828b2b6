import { hash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type { Pool, PoolClient, QueryResult as Result } from 'pg'
import type { CommitTopic } from '../../commit-topics.ts'
import { explainLoss, type Trouble, troubleOf } from '../../errors.ts'
import { request_wait_ms } from '../../locks.ts'
import type { Engine, Connection as OurConnection } from '../../tx.ts'
import { createSharedReads } from './shared-reads.ts'
import { createTransactionPool, type TransactionPool } from './transaction-pool.ts'
import type { PoolWatch } from './watch.ts'

const unknown_statement = new Set(['26000', '42P05'])
const failed_transaction = '25P02'
const read_only = '25006'

// The rejection of a statement passes this many asynchronous functions at most, with three microtasks each.
const max_depth = 10

/**
 * Throws the error of a statement that failed before it was sent, such as in the making of its rows. The server would
 * commit without it. Microtasks alone, so that the COMMIT is still sent together with the statements.
 */
async function throwUnsent(statements: readonly Promise<unknown>[]): Promise<void> {
  let failed: { error: unknown } | null = null
  for (const one of statements)
    one.catch((error) => {
      failed ??= { error }
    })
  for (let n = 0; n < 3 * max_depth && !failed; n++) await null
  if (failed) throw (failed as { error: unknown }).error
}

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''

// After a fail-over, the old server is read-only. Close the idle connections to it; new ones reach the new primary.
function leaveReadOnlyServer(pool: Pool, error: unknown) {
  if (codeOf(error) !== read_only) return
  for (let n = pool.idleCount; n > 0; n--)
    void pool.connect().then(
      (client) => client.release(true),
      () => {},
    )
}

/**
 * Kysely's dialect for PostgreSQL. Each connection prepares a compiled statement once. BEGIN is sent with the first
 * statement of a transaction, and statements that are issued together are sent together (pipelining).
 */
export function postgresDialect(
  pool: Pool,
  watch: PoolWatch,
  onCommit: (topics: readonly CommitTopic[]) => void,
  transactions: TransactionPool = createTransactionPool(pool),
): Dialect {
  let named = true
  // A transaction waits as long for its locks as for its connection.
  const { connectionTimeoutMillis: lock_wait_ms = request_wait_ms } = pool.options
  const shareReads = createSharedReads(pool, (error) => troubleOf(error) === 'unavailable')

  /** Runs one statement. Calls `failed` with an error and its kind, and throws the error that it returns. */
  async function run(
    client: PoolClient,
    query: Pick<CompiledQuery, 'sql' | 'parameters'>,
    failed: (error: unknown, trouble: Trouble | null) => unknown,
  ): Promise<Result> {
    const { sql: text, parameters } = query
    const values = parameters as unknown[]
    const name = named && 'prepared' in query ? nameOf(text) : undefined
    watch.sent(client)
    try {
      return await client.query({ text, values, name })
    } catch (error) {
      const explained = explainLoss(error)
      throw failed(explained, troubleOf(explained))
    } finally {
      watch.answered(client)
    }
  }

  // Stop using named statements: a pooler switched the server connection. The caller retries the transaction.
  function stopNaming(error: unknown): unknown {
    if (unknown_statement.has(codeOf(error))) named = false
    return error
  }

  class Connection implements OurConnection {
    /** Null until the first statement, which shows whether a transaction begins. */
    private client: PoolClient | null = null
    private in_transaction = false
    broken = false
    /** The end of the transaction is sent. A later statement would commit by itself. */
    ended = false
    failure: unknown = null
    /** The pending BEGIN; null outside of a transaction. */
    begun: Promise<unknown> | null = null
    announces: readonly CommitTopic[] = []
    deferred: Promise<unknown>[] = []
    last: (() => void)[] = []
    readonly is_awaited = false
    readonly lock_wait_ms = lock_wait_ms
    writeAhead() {}
    /** Takes a connection for a transaction. */
    async begin(): Promise<void> {
      this.client = await transactions.connect().catch(throwLoss)
      this.in_transaction = true
    }
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      if (this.ended) throw new Error('The transaction has ended.')
      this.client ??= await pool.connect().catch(throwLoss)
      cork(this.client)
      const result = await run(this.client, query, this.failed)
      return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
    }
    // biome-ignore lint/correctness/useYield: the interface requires a generator, but streaming is not supported
    async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
      throw new Error('Streaming is not supported.')
    }
    command(text: string): Promise<Result> {
      const client = this.client as PoolClient
      cork(client)
      return run(client, { sql: text, parameters: [] }, this.failed)
    }
    release(): void {
      if (this.in_transaction) transactions.release(this.client as PoolClient, this.broken)
      else this.client?.release(this.broken || undefined)
    }
    readonly failed = (error: unknown, trouble: Trouble | null): unknown => {
      if (trouble === 'unavailable') this.broken = true
      // Only the first error counts: later statements of a batch fail because the failed one prepared nothing.
      if (this.failure === null) stopNaming(error)
      leaveReadOnlyServer(pool, error)
      this.failure ??= error
      // Statements that were sent with the failed one may report their error first. The caller must see the reason.
      return codeOf(error) === failed_transaction ? this.failure : error
    }
  }

  const driver: Driver = {
    async init() {},
    async acquireConnection() {
      return new Connection()
    },
    async beginTransaction(connection) {
      const session = connection as Connection
      await session.begin()
      // commitTransaction awaits it. Only a lost connection makes BEGIN fail.
      session.begun = session.command('BEGIN')
      session.begun.catch(() => {})
    },
    async commitTransaction(connection) {
      const session = connection as Connection
      await throwUnsent(session.deferred)
      // Sent with the deferred statements: after a failed one, the server rolls back.
      const committed = session.command('COMMIT')
      session.ended = true
      await Promise.allSettled([session.begun, ...session.deferred, committed])
      await session.begun
      const { command } = await committed
      session.begun = null
      // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, and no error.
      if (command !== 'COMMIT')
        throw session.failure ?? new Error('A statement of the transaction failed: it was rolled back.')
      if (session.announces.length) onCommit(session.announces)
    },
    async rollbackTransaction(connection) {
      const session = connection as Connection
      session.begun = null
      session.ended = true
      if (!session.broken) await session.command('ROLLBACK').catch(() => {})
    },
    async releaseConnection(connection) {
      const session = connection as Connection
      session.release()
    },
    async destroy() {
      await watch.close()
    },
  }

  class Adapter extends PostgresAdapter implements Engine {
    readonly engine = 'postgres'
    async read(sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
      const query = { sql, parameters, prepared: true }
      try {
        const { rows } = await shareReads((client) => {
          cork(client, setImmediate)
          return run(client, query, stopNaming)
        })
        return rows
      } catch (error) {
        if (!unknown_statement.has(codeOf(error))) throw explainLoss(error)
        return this.read(sql, parameters)
      }
    }
  }
  const adapter = new Adapter()
  return {
    createDriver: () => driver,
    createAdapter: () => adapter,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}

const throwLoss = (error: unknown): never => {
  throw explainLoss(error)
}

// Connections that collect statements, to send them in one packet: those of one callback, or with setImmediate, those
// of one turn of the event loop.
const corked = new WeakSet<PoolClient>()
function cork(client: PoolClient, defer: (send: () => void) => void = process.nextTick) {
  if (corked.has(client)) return
  corked.add(client)
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  stream.cork()
  defer(() => {
    corked.delete(client)
    stream.uncork()
  })
}

// Derive the name from the text: processes may share a connection through a pooler, and must agree on the names.
const names = new Map<string, string>()
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `r${hash('sha1', text, 'base64url').slice(0, 22)}`
    names.set(text, name)
  }
  return name
}
