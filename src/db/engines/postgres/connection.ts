import pg, { type ClientConfig } from 'pg'
import { request_wait_ms } from '../../locks.ts'

const { builtins } = pg.types

// Read bigint and numeric as numbers: all ids, sums and times of this program are below 2^53.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === builtins.INT8 || oid === builtins.NUMERIC) return Number
    return pg.types.getTypeParser(oid, format as 'text')
  },
} as ClientConfig['types']

// Timeouts: a session that hangs must not keep its locks. JIT compilation costs more than it saves here. Acknowledged
// writes must be on a disk: replace synchronous_commit = off, but keep every other value.
const session = (lock_wait_ms: number) => `
  SET statement_timeout = '30s';
  SET lock_timeout = '${lock_wait_ms}ms';
  SET idle_in_transaction_session_timeout = '60s';
  SET jit = off;
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
`

/** The options of every connection to PostgreSQL. */
export function connectionOptions(url: string, lock_wait_ms = request_wait_ms) {
  // Other processes find servers of Rapport by application_name, so the URL may not change it.
  const address = new URL(url)
  address.searchParams.delete('application_name')
  return {
    connectionString: address.href,
    types,
    keepAlive: true,
    // Send statements that are issued together in one batch.
    pipeline: true,
    application_name: 'rapport',
    // Use SET commands: poolers refuse connection parameters.
    onConnect: async (client: pg.ClientBase) => void (await atOnce(client, session(lock_wait_ms))),
  }
}

const at_once_ms = 5000

/** Runs a statement with a timeout of 5 s, for connections that watchPool does not watch. */
export const atOnce = (client: pg.ClientBase | pg.Pool, text: string) =>
  client.query({ text, query_timeout: at_once_ms } as pg.QueryConfig)

const close_timeout_ms = 1000

/** Closes a connection. After 1 s without an answer of the server, it destroys the socket. */
export async function closeConnection(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => destroyConnection(client), close_timeout_ms)
  await client.end().catch(() => {})
  clearTimeout(timer)
}

/** Destroys the socket of a connection. Its pending statements fail. */
export const destroyConnection = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
