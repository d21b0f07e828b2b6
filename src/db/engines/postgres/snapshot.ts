import { type Dialect, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import type { Snapshot } from '../../db.ts'
import { explainLoss } from '../../errors.ts'
import type { Tables } from '../../tables.ts'
import type { Engine } from '../../tx.ts'
import { readingDriver } from '../reading.ts'
import { atOnce, closeConnection, connectionOptions } from './connection.ts'

// A client that reads slowly lets the transaction wait between two pages.
const begin = `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL idle_in_transaction_session_timeout = '10min';
  SELECT 1;
`

/** Opens a connection of its own that reads the present state of the database until it is closed. */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const client = new pg.Client({ ...connectionOptions(url), connectionTimeoutMillis: 5000 })
  // The statement under way reports the error.
  client.on('error', () => {})
  try {
    await client.connect()
    await atOnce(client, begin)
  } catch (error) {
    await closeConnection(client)
    throw explainLoss(error)
  }
  return {
    db: new Kysely<Tables>({ dialect: snapshotDialect(client) }),
    close: () => closeConnection(client),
  }
}

function snapshotDialect(client: pg.Client): Dialect {
  async function read(text: string, parameters: readonly unknown[]): Promise<unknown[]> {
    try {
      return (await client.query(text, parameters as unknown[])).rows
    } catch (error) {
      throw explainLoss(error)
    }
  }
  class Adapter extends PostgresAdapter implements Engine {
    readonly engine = 'postgres'
    read = read
  }
  const adapter = new Adapter()
  return {
    createDriver: () => readingDriver(read, 'A snapshot is already a transaction.'),
    createAdapter: () => adapter,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}
