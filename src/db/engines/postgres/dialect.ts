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
import { explainLoss, type Trouble, troubleOf } from '../../errors.ts'
import type { News } from '../../news.ts'
import type { Engine, Connection as OurConnection } from '../../statements/prepare.ts'
import type { Watch } from './watch.ts'

const unknown_statement = new Set(['26000', '42P05'])
const read_only = '25006'

/**
 * Kysely's dialect for PostgreSQL. Statements that were compiled once are prepared once per connection. A transaction's
 * BEGIN travels with its first statement, and statements that are issued together travel together (pipelining).
 */
export function postgresDialect(
  pool: Pool,
  watch: Watch,
  onCommit: (news: readonly News[]) => void,
): Dialect {
  let named = true

  /** Runs one statement; `failed` is told what went wrong, and what that means for the connection. */
  async function run(
    client: PoolClient,
    query: Pick<CompiledQuery, 'sql' | 'parameters'>,
    failed: (error: unknown, trouble: Trouble | null) => void,
  ): Promise<Result> {
    const { sql: text, parameters } = query
    const values = parameters as unknown[]
    const name = named && 'prepared' in query ? nameOf(text) : undefined
    watch.asked(client)
    try {
      return await client.query({ text, values, name })
    } catch (error) {
      const explained = explainLoss(error)
      failed(explained, troubleOf(explained))
      throw explained
    } finally {
      watch.answered(client)
    }
  }

  // From now on without names: the work is done once more by whoever asked.
  function nameNoMore(error: unknown) {
    if (unknown_statement.has((error as { code?: string }).code ?? '')) named = false
  }

  // After a fail-over, all connections lead to a server that only reads now: the address leads to the new one.
  function leaveReader(error: unknown) {
    if ((error as { code?: string }).code !== read_only) return
    for (let n = pool.idleCount; n > 0; n--)
      void pool.connect().then(
        (client) => client.release(true),
        () => {},
      )
  }

  async function acquire(): Promise<PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw explainLoss(error)
    }
  }

  class Connection implements OurConnection {
    readonly client: PoolClient
    broken = false
    failures = 0
    /** The BEGIN that is on its way; null outside of a transaction. */
    begun: Promise<unknown> | null = null
    announces: readonly News[] = []
    constructor(client: PoolClient) {
      this.client = client
    }
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      cork(this.client)
      const result = await run(this.client, query, this.failed)
      return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
    }
    // biome-ignore lint/correctness/useYield: the interface asks for a generator; nothing here streams
    async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
      throw new Error('Streaming is not supported.')
    }
    command(text: string): Promise<Result> {
      cork(this.client)
      return run(this.client, { sql: text, parameters: [] }, this.failed)
    }
    readonly failed = (error: unknown, trouble: Trouble | null) => {
      if (trouble === 'unavailable') this.broken = true
      // Of statements that travelled together, those behind a failed one may not know what it should have prepared.
      if (this.failures++ === 0) nameNoMore(error)
      leaveReader(error)
    }
  }

  const driver: Driver = {
    async init() {},
    async acquireConnection() {
      return new Connection(await acquire())
    },
    async beginTransaction(connection) {
      const one = connection as Connection
      // Not waited for here: it is before the commit, and nothing but a lost connection makes it fail.
      one.begun = one.command('BEGIN')
      one.begun.catch(() => {})
    },
    async commitTransaction(connection) {
      const one = connection as Connection
      await one.begun
      const { command } = await one.command('COMMIT')
      one.begun = null
      // The server answers the COMMIT of a failed transaction with a ROLLBACK, which is no error to it.
      if (command !== 'COMMIT') throw new Error('The transaction had failed: it was rolled back.')
      if (one.announces.length) onCommit(one.announces)
    },
    async rollbackTransaction(connection) {
      const one = connection as Connection
      one.begun = null
      if (!one.broken) await one.command('ROLLBACK').catch(() => {})
    },
    async releaseConnection(connection) {
      const { client, broken } = connection as Connection
      client.release(broken ? true : undefined)
    },
    async destroy() {
      await watch.close()
    },
  }

  class Adapter extends PostgresAdapter implements Engine {
    readonly engine = 'postgres'
    async read(sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
      const client = await acquire()
      let broken = false
      try {
        const query = { sql, parameters, prepared: true }
        const { rows } = await run(client, query, (error, trouble) => {
          if (trouble === 'unavailable') broken = true
          nameNoMore(error)
        })
        return rows
      } catch (error) {
        if (!unknown_statement.has((error as { code?: string }).code ?? '')) throw error
        return this.read(sql, parameters)
      } finally {
        client.release(broken ? true : undefined)
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

// What a transaction issues in one turn of the loop leaves in one packet.
const corked = new WeakSet<PoolClient>()
function cork(client: PoolClient) {
  if (corked.has(client)) return
  corked.add(client)
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  stream.cork()
  process.nextTick(() => {
    corked.delete(client)
    stream.uncork()
  })
}

// The same text has the same name in every process, so that a pooler's shared connections never confuse two statements.
const names = new Map<string, string>()
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `r${hash('sha1', text, 'base64url').slice(0, 22)}`
    names.set(text, name)
  }
  return name
}
