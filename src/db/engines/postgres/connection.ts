import pg, { type ClientConfig } from 'pg'

const { builtins } = pg.types

// Whole numbers as numbers: ids, sums and times of this program stay far below 2^53.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === builtins.INT8 || oid === builtins.NUMERIC) return Number
    return pg.types.getTypeParser(oid, format as 'text')
  },
} as ClientConfig['types']

// No statement of the program takes long, and none waits long for a lock; what hangs must not keep its locks. Planning
// by machine code costs more than it saves here. What was acknowledged is on a disk: any other setting than off says so.
const session = `
  SET statement_timeout = '30s';
  SET lock_timeout = '5s';
  SET idle_in_transaction_session_timeout = '60s';
  SET jit = off;
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
`

/** How every connection to PostgreSQL is made. */
export function connectionOptions(url: string) {
  // The name says to others that a server of ours is there: no address may change it.
  const address = new URL(url)
  address.searchParams.delete('application_name')
  return {
    connectionString: address.href,
    types,
    keepAlive: true,
    // Statements that are issued together travel together.
    pipeline: true,
    application_name: 'rapport',
    // As commands, not as parameters of the connection, which poolers refuse.
    onConnect: async (client: pg.ClientBase) => void (await atOnce(client, session)),
  }
}

const at_once_ms = 5000

/** A statement that no watch looks after: without an answer in time, the connection is ended. */
export const atOnce = (client: pg.ClientBase | pg.Pool, text: string) =>
  client.query({ text, query_timeout: at_once_ms } as pg.QueryConfig)

const goodbye_ms = 1000

/** Ends a connection, without waiting long for a server that does not take leave. */
export async function hangUp(client: pg.Client): Promise<void> {
  const late = setTimeout(() => cut(client), goodbye_ms)
  await client.end().catch(() => {})
  clearTimeout(late)
}

/** Ends a connection without a word: what waits for an answer on it fails. */
export const cut = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
