import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { engineOf } from '../db/statements/prepare.ts'
import type { Tables } from '../db/tables.ts'

/** Blocks are counted anew by the target's triggers, as its records arrive. */
export type TableName = Exclude<keyof Tables, 'record_blocks'>

type Shape = {
  /** The primary key of PostgreSQL; SQLite has the same one, except where it numbers the rows. */
  key: string[]
  /** The column that numbers the rows of this table, and never uses a number twice. */
  numbered?: 'id' | 'seq'
}

const record: Shape = { key: ['workspace_id', 'id'], numbered: 'id' }
const stream: Shape = { key: ['workspace_id', 'id'], numbered: 'seq' }

/** Every table, in an order in which rows come after those that they refer to. */
export const shapes: Record<TableName, Shape> = {
  settings: { key: ['name'] },
  workspaces: { key: ['id'], numbered: 'id' },
  api_keys: { key: ['id'] },
  users: { key: ['id'] },
  memberships: { key: ['workspace_id', 'user_id'] },
  sessions: { key: ['id'] },
  invitations: { key: ['id'] },
  sign_in_failures: { key: ['name'] },
  saved_views: { key: ['id'] },
  idempotency_keys: { key: ['workspace_id', 'key_id', 'path', 'idempotency_key'] },
  record_counts: { key: ['workspace_id', 'name', 'slot'] },
  companies: record,
  contacts: record,
  notes: record,
  deals: record,
  deal_stages: record,
  activities: record,
  booking_pages: record,
  appointments: record,
  booking_visits: { key: ['workspace_id', 'booking_page_id', 'appointment_id'] },
  field_values: { key: ['workspace_id', 'kind', 'field', 'value', 'record_id'] },
  audit_log: record,
  events: stream,
  webhooks: stream,
  webhook_subscriptions: { key: ['workspace_id', 'event', 'webhook_id'] },
  webhook_deliveries: { key: ['workspace_id', 'id'] },
  webhook_queue: { key: ['workspace_id', 'delivery_id'] },
  webhook_removals: { key: ['workspace_id', 'webhook_id'] },
  webhook_resends: { key: ['workspace_id', 'webhook_id', 'first_id'] },
  webhook_attempts: { key: ['workspace_id', 'delivery_id', 'number'] },
}

export const table_names = Object.keys(shapes) as TableName[]

/** The columns by which an engine can read all rows in order, without sorting them. */
export function pageKey(db: Db, table: TableName): string[] {
  const { key, numbered } = shapes[table]
  return engineOf(db) === 'sqlite' && numbered ? [numbered] : key
}

/** The columns of a table that are written, by what they hold; the database makes the others by itself. */
export type Columns = Record<string, 'text' | 'bigint'>

export async function columnsOf(db: Db, table: TableName): Promise<Columns> {
  const { rows } = await (engineOf(db) === 'sqlite'
    ? sql<{
        name: string
        type: string
      }>`SELECT name, type FROM pragma_table_xinfo(${table}) WHERE hidden = 0 ORDER BY name`
    : sql<{ name: string; type: string }>`
        SELECT column_name AS name, data_type AS type FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ${table} AND is_generated = 'NEVER'
        ORDER BY column_name COLLATE "C"`
  ).execute(db)
  return Object.fromEntries(rows.map(({ name, type }) => [name, type === 'text' ? 'text' : 'bigint']))
}

/** Whether these tables were ever made here. Looking does not make them, as a migration would. */
export async function isInstallation(db: Db): Promise<boolean> {
  const { rows } = await (engineOf(db) === 'sqlite'
    ? sql`SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'`
    : sql`SELECT 1 WHERE to_regclass('schema_migrations') IS NOT NULL`
  ).execute(db)
  return rows.length > 0
}

/** The tables that have rows. */
export async function filledTables(db: Db): Promise<TableName[]> {
  const filled: TableName[] = []
  for (const table of table_names) {
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} LIMIT 1`.execute(db)
    if (rows.length) filled.push(table)
  }
  return filled
}

export async function countRows(db: Db, table: TableName): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}`.execute(db)
  return Number(rows[0]?.n)
}
