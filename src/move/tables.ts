import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Tables } from '../db/tables.ts'
import { engineOf } from '../db/tx.ts'
import { byDependency } from '../resources/derived.ts'
import type { Resource } from '../resources/resource.ts'

/** A table that a move copies. */
export type Table = {
  name: string
  /** The primary key on PostgreSQL. SQLite has the same one, except for tables with numbered rows. */
  key: readonly string[]
  /** The column that numbers the rows. A number is never used again. */
  numbered?: 'id' | 'seq'
}

type Shape = Omit<Table, 'name'>
type Shapes = { [Name in keyof Tables]?: Shape }

const record: Shape = { key: ['workspace_id', 'id'], numbered: 'id' }
const stream: Shape = { key: ['workspace_id', 'id'], numbered: 'seq' }

const before_records: Shapes = {
  settings: { key: ['name'] },
  workspaces: { key: ['id'], numbered: 'id' },
  api_keys: { key: ['id'] },
  users: { key: ['id'] },
  memberships: { key: ['workspace_id', 'user_id'] },
  sessions: { key: ['id'] },
  reset_links: { key: ['hash'] },
  invitations: { key: ['id'] },
  sign_in_failures: { key: ['name'] },
  work: { key: ['workspace_id', 'id'] },
  saved_views: { key: ['id'] },
  view_tabs: { key: ['workspace_id', 'user_id', 'list'] },
  calendar_feeds: { key: ['id'] },
  field_definitions: record,
  choices: { key: ['workspace_id', 'list', 'value'] },
  idempotency_keys: { key: ['workspace_id', 'key_id', 'path', 'idempotency_key'] },
  record_counts: { key: ['workspace_id', 'name', 'slot'] },
}
const after_records: Shapes = {
  booking_visits: { key: ['workspace_id', 'booking_page_id', 'appointment_id'] },
  bookings: { key: ['workspace_id', 'appointment_id'] },
  reminder_stops: { key: ['workspace_id', 'address_hash'] },
  field_values: { key: ['workspace_id', 'kind', 'field', 'value', 'record_id'] },
  defined_values: { key: ['workspace_id', 'definition_id', 'record_id'] },
  imports: { key: ['workspace_id', 'id'] },
  import_errors: { key: ['workspace_id', 'import_id', 'number'] },
  import_changes: { key: ['workspace_id', 'import_id', 'kind', 'record_id'] },
  notifications: record,
  audit_log: record,
  merges: record,
  merged_records: { key: ['workspace_id', 'kind', 'record_id'] },
  merged_values: { key: ['workspace_id', 'kind', 'field', 'value', 'record_id'] },
  dismissed_pairs: { key: ['workspace_id', 'kind', 'reason', 'value', 'first_id', 'second_id'] },
  merge_links: { key: ['workspace_id', 'merge_id', 'kind', 'record_id', 'field'] },
  events: stream,
  webhooks: stream,
  webhook_subscriptions: { key: ['workspace_id', 'event', 'webhook_id'] },
  webhook_registrations: { key: ['workspace_id', 'webhook_id', 'from_seq'] },
  webhook_deliveries: { key: ['workspace_id', 'id'] },
  webhook_queue: { key: ['workspace_id', 'delivery_id'] },
  webhook_attempts: { key: ['workspace_id', 'delivery_id', 'number'] },
  mails: { key: ['workspace_id', 'id'] },
  mail_attempts: { key: ['workspace_id', 'mail_id', 'number'] },
  busy_calendars: { key: ['workspace_id', 'id'] },
  busy_periods: { key: ['workspace_id', 'calendar_id', 'generation', 'start_at'] },
  mail_causes: { key: ['subject', 'at_ms', 'mail_id'] },
}

/**
 * Tables that a move does not copy. Triggers of the target fill the blocks and the taken times. An import that has not ended fails on the target,
 * because its file stays. A service learns anew what its SMTP server does.
 */
export const not_copied: readonly (keyof Tables)[] = [
  'record_blocks',
  'taken_times',
  'import_chunks',
  'mail_server',
]

const named = (shapes: Shapes): Table[] => Object.entries(shapes).map(([name, shape]) => ({ name, ...shape }))

/** The tables that a move copies. A table comes after the tables that its rows refer to. */
export function tablesOf(resources: readonly Resource[]): Table[] {
  const of_records = byDependency(resources).flatMap(({ table, owns }) => [table, ...Object.keys(owns)])
  return [
    ...named(before_records),
    ...of_records.map((name) => ({ name, ...record })),
    ...named(after_records),
  ]
}

/** The columns by which an engine reads all rows in order without a sort. */
export const pageKey = (db: Db, { key, numbered }: Table): readonly string[] =>
  engineOf(db) === 'sqlite' && numbered ? [numbered] : key

/** Columns that triggers of the target keep. */
export const kept_columns: readonly string[] = ['last_contacted_at', 'next_activity_at', 'open_deals_units']

/** The types of the columns that a move writes. Columns that the database fills are left out. */
export type StoredColumns = Record<string, 'text' | 'bigint'>

export async function columnsOf(db: Db, table: string): Promise<StoredColumns> {
  type Column = { name: string; type: string }
  const { rows } = await (engineOf(db) === 'sqlite'
    ? sql<Column>`SELECT name, type FROM pragma_table_xinfo(${table}) WHERE hidden = 0 ORDER BY name`
    : sql<Column>`
        SELECT column_name AS name, data_type AS type FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ${table} AND is_generated = 'NEVER'
        ORDER BY column_name COLLATE "C"`
  ).execute(db)
  const written = rows.filter(({ name }) => !kept_columns.includes(name))
  return Object.fromEntries(written.map(({ name, type }) => [name, type === 'text' ? 'text' : 'bigint']))
}

/** Whether a database has the tables of Rapport. Unlike a migration, this check creates nothing. */
export async function isInstallation(db: Db): Promise<boolean> {
  const { rows } = await (engineOf(db) === 'sqlite'
    ? sql`SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'`
    : sql`SELECT 1 WHERE to_regclass('schema_migrations') IS NOT NULL`
  ).execute(db)
  return rows.length > 0
}

/** The names of the tables that have rows. */
export async function filledTables(db: Db, tables: readonly Table[]): Promise<string[]> {
  const filled: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql`SELECT 1 FROM ${sql.table(name)} LIMIT 1`.execute(db)
    if (rows.length) filled.push(name)
  }
  return filled
}
