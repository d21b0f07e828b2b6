import { sql } from 'kysely'
import type { Db } from './db.ts'
import type { Deletable } from './records.ts'
import { engineOf } from './statements/prepare.ts'
import type { Tables } from './tables.ts'

/** The tables whose rows are read, judged and then written. */
export type Lockable = Extract<keyof Tables, Deletable | 'webhooks' | 'webhook_deliveries' | 'saved_views'>

/**
 * Keeps a row for this transaction, whether or not it is in the trash: another one that wants to change it waits here,
 * and then reads what was made of it. Call it before the read that the change is judged by. SQLite has one writer, and
 * needs nothing.
 */
export async function lockRow(
  tx: Db,
  table: Lockable,
  workspace_id: number,
  id: number | string,
): Promise<void> {
  if (engineOf(tx) === 'sqlite') return
  await sql`SELECT 1 FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND id = ${id} FOR NO KEY UPDATE`.execute(
    tx,
  )
}

/** The same for a row that belongs to no workspace, or is one. */
export async function lockEntry(
  tx: Db,
  table: 'workspaces' | 'users' | 'invitations',
  id: number | string,
): Promise<void> {
  if (engineOf(tx) === 'sqlite') return
  await sql`SELECT 1 FROM ${sql.table(table)} WHERE id = ${id} FOR NO KEY UPDATE`.execute(tx)
}

// So that a text of one use waits for none of another.
const uses = { contact_email: 1, saved_views: 2 } as const

/**
 * Keeps a text of a workspace for this transaction, for a rule that no index enforces: another transaction with the same
 * one waits here, and then finds what was made of it. SQLite has one writer, and needs nothing.
 */
export async function lockText(
  tx: Db,
  use: keyof typeof uses,
  workspace_id: number,
  text: string,
): Promise<void> {
  if (engineOf(tx) === 'sqlite') return
  const name = `${workspace_id} ${text}`
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, ${uses[use]}))`.execute(tx)
}

/** Lets this transaction take as long as it needs, for work of a size that nothing limits. */
export async function allowLong(tx: Db): Promise<void> {
  if (engineOf(tx) === 'sqlite') return
  await sql`SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`.execute(
    tx,
  )
}

// Any number that nothing else on the same database uses.
const installation = 7_239_051

/**
 * Lets one process at a time look what an installation has and add what is missing: tables, the first workspace. Waits as
 * long as it takes; held until the transaction's end.
 */
export async function lockInstallation(tx: Db): Promise<void> {
  if (engineOf(tx) === 'sqlite') return
  await allowLong(tx)
  await sql`SELECT pg_advisory_xact_lock(${installation})`.execute(tx)
}
