import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { id_bits, searchTokens } from '../src/db/engines/sqlite/search-index.ts'
import type { Engine } from './databases.ts'

// The rows that an import wrote, in a loop of INSERTs without a service: records, events, audit entries, and the index of
// the search. The tables have the same indexes and triggers.

type Row = Record<string, string | number | null>
/** The tables, and the column that grows with each row. */
const tables = { companies: 'id', contacts: 'id', events: 'seq', audit_log: 'id' }
const rows_at_once = 500

type Copied = { table: string; rows: Row[] }[]
type Side = {
  insert(copied: Copied): Promise<void>
  rowsAfter(marks: Marks): Promise<Copied>
  end(): Promise<void>
}
type Marks = Record<string, string | number>

/** Opens a loop between the database of the service and a copy from before. */
export async function openBareImport(engine: Engine, from: string, to: string) {
  const [source, copy] =
    engine === 'sqlite' ? [onSqlite(from), onSqlite(to)] : [await onPostgres(from), await onPostgres(to)]
  const marks: Marks = {}
  // The copy has these rows already.
  noteLast(marks, await copy.rowsAfter(marks))
  return {
    /** Inserts the new rows of the service into the copy; returns contacts per second. */
    async rate(): Promise<number> {
      const copied = await source.rowsAfter(marks)
      noteLast(marks, copied)
      const contacts = copied.find(({ table }) => table === 'contacts')?.rows.length ?? 0
      const before = performance.now()
      await copy.insert(copied)
      return (contacts * 1000) / (performance.now() - before)
    },
    async end() {
      await source.end()
      await copy.end()
    },
  }
}

function noteLast(marks: Marks, copied: Copied): void {
  for (const { table, rows } of copied) {
    const last = rows.at(-1)?.[tables[table as keyof typeof tables]]
    if (last !== undefined && last !== null) marks[table] = last
  }
}

/** The same slice of each table is inserted in one transaction, as an import does. */
function* slicesOf(copied: Copied): Generator<Copied> {
  const most = Math.max(...copied.map(({ rows }) => rows.length))
  for (let from = 0; from < most; from += rows_at_once)
    yield copied.map(({ table, rows }) => ({ table, rows: rows.slice(from, from + rows_at_once) }))
}

const query = (table: string, mark: Marks[string] | undefined) => {
  const column = tables[table as keyof typeof tables]
  const after = mark === undefined ? '' : `WHERE ${column} > ${typeof mark === 'number' ? mark : `'${mark}'`}`
  return `SELECT * FROM ${table} ${after} ORDER BY ${column}`
}

function onSqlite(file: string): Side {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA cache_size = -65536')
  const add = db.prepare(
    `INSERT INTO contacts_search (rowid, tokens) VALUES ((CAST(? AS INTEGER) << ${id_bits}) + CAST(? AS INTEGER), ?)`,
  )
  return {
    rowsAfter: async (marks) =>
      Object.keys(tables).map((table) => ({
        table,
        rows: db.prepare(query(table, marks[table])).all() as Row[],
      })),
    async insert(copied) {
      for (const slice of slicesOf(copied)) {
        db.exec('BEGIN')
        for (const { table, rows } of slice) {
          const [first] = rows
          if (!first) continue
          const names = Object.keys(first)
          const insert = db.prepare(
            `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})`,
          )
          for (const row of rows) insert.run(...names.map((name) => row[name] as string))
          if (table !== 'contacts') continue
          for (const row of rows)
            add.run(row.workspace_id as number, row.id as number, searchTokens(String(row.search_text)))
          db.exec('DELETE FROM contacts_search_changes')
        }
        db.exec('COMMIT')
      }
    },
    async end() {
      db.close()
    },
  }
}

async function onPostgres(url: string): Promise<Side> {
  const client = new pg.Client(url)
  await client.connect()
  return {
    async rowsAfter(marks) {
      const found: Copied = []
      for (const table of Object.keys(tables))
        found.push({ table, rows: (await client.query(query(table, marks[table]))).rows })
      return found
    },
    async insert(copied) {
      for (const slice of slicesOf(copied)) {
        await client.query('BEGIN')
        for (const { table, rows } of slice)
          await client.query(
            `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`,
            [JSON.stringify(rows)],
          )
        await client.query('COMMIT')
      }
    },
    end: () => client.end(),
  }
}
