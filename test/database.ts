import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { insertKey } from '../src/access/keys/keys.ts'
import { insertWorkspace } from '../src/access/workspaces.ts'
import { systemClock } from '../src/clock.ts'
import { transaction } from '../src/db/db.ts'
import { databaseFile } from '../src/db/engines/sqlite/open.ts'
import { command_line, contextOf } from '../src/events/context.ts'
import { engine, settingsOf } from './engine.ts'
import { client } from './harness.ts'
import { beside } from './keys.ts'
import { use } from './use.ts'

export type StoredEvent = {
  id: string
  event: string
  timestamp: string
  data: Record<string, unknown>
  changed_fields?: string[]
  previous?: Record<string, unknown>
}

type Row = Record<string, unknown>
type Value = string | number
type Reader = {
  all(sql: string, values: Value[]): Row[] | Promise<Row[]>
  contents(): Promise<Buffer>
  close(): unknown
}

/** The file of the first key in the data folder. It has the key itself and is not a part of the database. */
export const first_key_file = 'first-api-key.txt'

function readSqlite(data_dir: string): Reader {
  const database = new DatabaseSync(databaseFile(data_dir), { readOnly: true })
  return {
    all: (sql, values) => database.prepare(sql).all(...values),
    contents: async () => {
      const names = readdirSync(data_dir).filter((name) => name !== first_key_file)
      return Buffer.concat(names.map((name) => readFileSync(join(data_dir, name))))
    },
    close: () => database.close(),
  }
}

// Whole numbers arrive as numbers, as they do from SQLite.
const numbers = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC])
const types = {
  getTypeParser: (oid: number) => (numbers.has(oid) ? Number : pg.types.getTypeParser(oid)),
} as pg.ClientConfig['types']

function readPostgres(url: string | undefined): Reader {
  const options = '-c default_transaction_read_only=on'
  const connection = new pg.Client({ connectionString: url, types, options })
  // The server may stop between two queries. The next query reports the error.
  connection.on('error', () => {})
  const connected = connection.connect()
  return {
    async all(sql, values) {
      await connected
      let number = 0
      const { rows } = await connection.query(
        sql.replaceAll('?', () => `$${++number}`),
        values,
      )
      return rows
    },
    async contents() {
      const tables = await this.all("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", [])
      const rows = await this.all(
        tables.map(({ tablename }) => `SELECT t::text FROM ${tablename} t`).join(' UNION ALL '),
        [],
      )
      return Buffer.from(rows.map(({ t }) => t).join('\n'))
    },
    close: () => connection.end(),
  }
}

/**
 * Reads what a running service has committed, on a connection of its own that cannot write. The SQL is of both engines,
 * with ? for each value.
 */
export async function readStored(data_dir: string) {
  const { DATABASE_URL } = await settingsOf(data_dir)
  const reader = engine === 'postgres' ? readPostgres(DATABASE_URL) : readSqlite(data_dir)
  const rows = async (sql: string, ...values: Value[]): Promise<Row[]> =>
    (await reader.all(sql, values)).map((row) => ({ ...row }))
  return {
    rows,
    /** Everything that is stored: the bytes of the data folder without the file of the first key, or the text of every row of PostgreSQL. */
    contents: () => reader.contents(),
    /**
     * The payloads of a record's events of one resource, such as deal, in the order in which they were written. Without what
     * every payload tells of its origin (test/event-origin.test.ts).
     */
    async events(resource: string, record_id: number): Promise<StoredEvent[]> {
      return (await this.wholeEvents(resource, record_id)).map(withoutOrigin)
    },
    /** The same, with it. */
    async wholeEvents(resource: string, record_id: number): Promise<StoredEvent[]> {
      const found = await rows(
        'SELECT payload FROM events WHERE record_id = ? AND event LIKE ? ORDER BY seq',
        record_id,
        `${resource}.%`,
      )
      return found.map(({ payload }) => JSON.parse(String(payload)))
    },
    /** The audit entries of a record of one kind, such as deals, in the order in which they were written. */
    async audit(kind: string, record_id: number) {
      const found = await rows(
        'SELECT action, before, after FROM audit_log WHERE kind = ? AND record_id = ? ORDER BY id',
        kind,
        String(record_id),
      )
      return found.map(({ action, before, after }) => ({
        action,
        before: JSON.parse(String(before)),
        after: JSON.parse(String(after)),
      }))
    },
    async close() {
      await reader.close()
    },
  }
}

/** A payload without its sequence and its origin. */
export function withoutOrigin<Payload extends object>(payload: Payload): Payload {
  const {
    sequence: _,
    actor: __,
    source: ___,
    api_version: ____,
    ...rest
  } = payload as Record<string, unknown>
  return rest as Payload
}

export type Stored = Awaited<ReturnType<typeof readStored>>

/** The rows of a service that the tests of a file share. */
export const useStored = (rapport: { data_dir: string }): Stored => use(() => readStored(rapport.data_dir))

/** Makes a workspace beside a running service, as the command line does; calls as its key. */
export async function newWorkspace({ url, data_dir }: { url: string; data_dir: string }) {
  const { token } = await beside(data_dir, (db) =>
    transaction(db, async (tx) => {
      const workspace_id = await insertWorkspace(tx, systemClock, command_line, 'Another')
      const context = contextOf(systemClock, { workspace_id, actor: command_line, request_id: null })
      return insertKey(tx, context, { name: 'Its key', scopes: null, expires_at: null })
    }),
  )
  return client(url, token)
}
