import { setTimeout as pause } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { LockTimeout } from './errors.ts'
import type { Deletable } from './records.ts'
import { prepareById } from './statements/bulk.ts'
import { perKey, prepare } from './statements/prepare.ts'
import type { Tables } from './tables.ts'
import { type Db, engineOf, type Tx } from './tx.ts'

/** How long a request waits on PostgreSQL, for its connection and its locks together. Then it is answered with 503. */
export const request_wait_ms = 5000

/** How long PostgreSQL is waited for. The defaults are those of requests. */
export type Waits = {
  /** How long an answer may take before its connection is checked. By default 1.5 s. */
  suspect_after_ms?: number
  /** How long a transaction waits for its connection and its locks. By default 5 s. */
  wait_ms?: number
}

/** A clause that locks the rows of a SELECT, on PostgreSQL. Nothing on SQLite, which has one writer. */
export const rowLock = (db: Db, clause: `${string}FOR ${string}`): RawBuilder<unknown> =>
  engineOf(db) === 'sqlite' ? sql`` : sql.raw(clause)

/** The tables whose rows are read, checked and then written. */
export type Lockable = Extract<
  keyof Tables,
  Deletable | 'webhooks' | 'webhook_deliveries' | 'saved_views' | 'field_definitions'
>

const lockOf = (table: Lockable, strength: RawBuilder<unknown>) =>
  prepareById(
    (is, p) => sql<{ id: number }>`SELECT id FROM ${sql.table(table)}
        WHERE workspace_id = ${p.workspace_id} AND ${is('id')} ORDER BY id ${strength}`,
  )
// A reference to a row takes FOR KEY SHARE, so it waits for a removal, but not for a change.
const locksOf = perKey((table: Lockable) => ({
  change: lockOf(table, sql`FOR NO KEY UPDATE`),
  removal: lockOf(table, sql`FOR UPDATE`),
}))

/**
 * Locks a row until the end of the transaction, also a soft-deleted one. Call it before the read on which a change
 * depends. A concurrent writer waits here, and then reads the new row. For a `removal`, transactions that begin to refer
 * to the row wait, too (isLive). A no-op on SQLite, which has one writer.
 */
export async function lockRow(
  tx: Tx,
  table: Lockable,
  workspace_id: number,
  id: number | string,
  purpose: 'change' | 'removal' = 'change',
): Promise<void> {
  if (tx.engine === 'sqlite') return
  // Text ids pass as they are.
  await locksOf(table)[purpose](tx, { workspace_id, id: id as number })
}

/**
 * Locks a row as lockRow does, without a wait: false while another transaction has it. True if it is deleted. A step of work
 * needs it, because it has the row of the work, which a request locks after the other one.
 */
export async function tryLockRow(
  tx: Tx,
  table: 'webhooks' | 'field_definitions',
  workspace_id: number,
  id: string | number,
): Promise<boolean> {
  if (tx.engine === 'sqlite') return true
  const find = async (lock: RawBuilder<unknown>) => {
    const found = sql`SELECT 1 FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND id = ${id} ${lock}`
    return (await found.execute(tx)).rows.length
  }
  return (await find(sql`FOR NO KEY UPDATE SKIP LOCKED`)) > 0 || (await find(sql``)) === 0
}

/** Like lockRow, for a workspace or a row without a workspace. */
export async function lockEntry(
  tx: Tx,
  table: 'workspaces' | 'users' | 'invitations',
  id: number | string,
): Promise<void> {
  if (tx.engine === 'sqlite') return
  await sql`SELECT 1 FROM ${sql.table(table)} WHERE id = ${id} FOR NO KEY UPDATE`.execute(tx)
}

// A number for each use, so that equal texts of different uses do not wait for each other.
const uses = {
  contact_email: 1,
  saved_views: 2,
  upsert: 3,
  field_definitions: 4,
  imports: 5,
  mails: 6,
  hosts: 7,
} as const

/**
 * Locks a text of a workspace until the end of the transaction, for a rule that no index enforces. A concurrent
 * transaction with the same text waits here, and then reads the new rows. A no-op on SQLite, which has one writer.
 */
export async function lockText(
  tx: Tx,
  use: keyof typeof uses,
  workspace_id: number,
  text: string,
): Promise<void> {
  if (tx.engine === 'sqlite') return
  await sql`SELECT pg_advisory_xact_lock(${numberOf(use, workspace_id, text)})`.execute(tx)
}

/** Like lockText, but does not wait: false while another transaction has the lock. Always true on SQLite. */
export async function tryLockText(
  tx: Tx,
  use: keyof typeof uses,
  workspace_id: number,
  text: string,
): Promise<boolean> {
  if (tx.engine === 'sqlite') return true
  const number = numberOf(use, workspace_id, text)
  const { rows } = await sql<Tried>`SELECT pg_try_advisory_xact_lock(${number}) AS is_locked`.execute(tx)
  return rows[0]?.is_locked ?? false
}
type Tried = { is_locked: boolean }

const numberOf = (use: keyof typeof uses, workspace_id: number, text: string) =>
  sql`hashtextextended(${`${workspace_id} ${text}`}, ${uses[use]})`

// PostgreSQL keeps all locks of all transactions in one small table, so many texts share these.
const max_locks = 256

const lockNames = prepare(
  (p: { names: string[]; use: number; workspace_id: number }) => sql`SELECT pg_advisory_xact_lock(lock) FROM (
      SELECT DISTINCT (hashtextextended(name, ${p.use}::bigint) & ${sql.lit(max_locks - 1)})
        | (hashtextextended('upsert ' || ${p.workspace_id}::bigint, ${p.use}::bigint) << 8) AS lock
      FROM unnest(${p.names}::text[]) AS name ORDER BY lock
    ) AS locks`,
)
const limitWait = prepare((p: { limit: string }) => sql`SELECT set_config('lock_timeout', ${p.limit}, true)`)

// A shorter wait for a connection does not count. A statement waits at least this long for a lock.
const min_wait_ms = 100
// How long the statements of a transaction wait for a lock: its first call with this key decides.
const limitOf = (tx: Tx, wait_ms = tx.session.lock_wait_ms) =>
  tx.once('lock limit', () => `${Math.ceil(wait_ms)}ms`)

/**
 * Limits how long the next statements of this transaction wait for a lock, on PostgreSQL. Without a limit: as long as
 * those of the whole transaction may wait.
 */
export function limitLockWait(tx: Tx, limit = limitOf(tx)): void {
  if (tx.engine === 'postgres') tx.defer(limitWait(tx, { limit }))
}

/** Subtracts a wait for a connection from the waits for locks of this transaction, on PostgreSQL. */
export function countConnectionWait(tx: Tx, waited_ms: number): void {
  if (tx.engine === 'sqlite' || waited_ms <= min_wait_ms) return
  limitLockWait(tx, limitOf(tx, Math.max(tx.session.lock_wait_ms - waited_ms, min_wait_ms)))
}

/**
 * Like lockText, for many texts. Different texts may share a lock. Concurrent transactions lock in the same order, and wait
 * for up to 20 s: of many with one text, the last one waits for all others.
 */
export async function lockTexts(
  tx: Tx,
  use: keyof typeof uses,
  workspace_id: number,
  texts: readonly string[],
): Promise<void> {
  if (tx.engine === 'sqlite' || !texts.length) return
  const names = texts.map((text) => `${workspace_id} ${text}`)
  limitLockWait(tx, '20s')
  const locked = lockNames(tx, { names, use: uses[use], workspace_id })
  limitLockWait(tx)
  await locked
}

/** Whether all of some transactions have ended. */
export type Ended = (db: Db) => Promise<boolean>

/**
 * A shared advisory lock, with a number that nothing else on the same database uses and the workspace. Nothing takes it
 * exclusively: while one transaction waits for that, PostgreSQL queues the shared locks of all others behind it.
 */
function workspaceLock(number: number) {
  type Workspace = { workspace_id: number }
  const second = (workspace_id: number) => sql`(${workspace_id}::bigint & 2147483647)`
  const take = prepare(
    (p: Workspace) =>
      sql`SELECT pg_advisory_xact_lock_shared(${sql.lit(number)}, ${second(p.workspace_id)}::int)`,
  )
  const holders = prepare(
    (p: Workspace) => sql<{ holder: string }>`SELECT virtualtransaction AS holder FROM pg_locks
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid = ${sql.lit(number)} AND objid = ${second(p.workspace_id)}::oid AND objsubid = 2`,
  )
  return {
    async share(tx: Tx, workspace_id: number): Promise<void> {
      if (tx.engine === 'postgres') await take(tx, { workspace_id })
    },
    /** Says whether the transactions have ended that had the lock at the first look. */
    earlier(workspace_id: number): Ended {
      let left: Set<string> | undefined
      return async (db) => {
        // SQLite has one writer.
        if (engineOf(db) === 'sqlite') return true
        const now = new Set((await holders(db, { workspace_id })).map(({ holder }) => holder))
        left = left?.intersection(now) ?? now
        return left.size === 0
      }
    },
  }
}
const definitions = workspaceLock(7_239_053)
const subscriptions = workspaceLock(7_239_054)

/**
 * Takes a shared lock until the end of the transaction, before it reads definitions of custom fields. The check of a new
 * definition waits for the transaction (awaitDefinitions).
 */
export const shareDefinitions = definitions.share

// Between two looks at the locks.
const look_ms = 20

/** Waits for the end of all transactions that may have read the definitions of a workspace before now. Throws LockTimeout. */
export async function awaitDefinitions(db: Db, workspace_id: number): Promise<void> {
  const haveEnded = definitions.earlier(workspace_id)
  const until_ms = performance.now() + request_wait_ms
  while (!(await haveEnded(db))) {
    if (performance.now() > until_ms) throw new LockTimeout('Writes that began earlier are still running.')
    await pause(look_ms)
  }
}

/**
 * Takes a shared lock until the end of the transaction, before it reads which webhooks get its events. A backfill begins
 * after the transaction (afterEarlierWrites).
 */
export const shareSubscriptions = subscriptions.share

// Work of this process that waits.
const max_asked = 1000

type Asker = { workspace_id: number; subject: string; created_at: string }

/**
 * Returns a function for work: whether the transactions have ended that may have read, before its first question, which
 * webhooks get their events, and in which order.
 */
export function afterEarlierWrites() {
  const asked = new Map<string, Ended>()
  return async (tx: Tx, { workspace_id, subject, created_at }: Asker): Promise<boolean> => {
    const name = `${subject} ${created_at}`
    const haveEnded = asked.get(name) ?? subscriptions.earlier(workspace_id)
    asked.set(name, haveEnded)
    // Work that was stopped asks no more. Forgotten work asks from the start.
    if (asked.size > max_asked) asked.delete(asked.keys().next().value as string)
    const have_ended = await haveEnded(tx)
    if (have_ended) asked.delete(name)
    return have_ended
  }
}

/** Disables the lock and statement timeouts of this transaction, for work of unlimited size. */
export async function disableTimeouts(tx: Tx): Promise<void> {
  if (tx.engine === 'sqlite') return
  await sql`SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`.execute(
    tx,
  )
}

// An advisory lock number that nothing else on the same database uses.
const installation_lock = 7_239_051

/**
 * Lets one process at a time check and complete an installation: its tables, its first workspace. Waits without a timeout,
 * and holds the lock until the end of the transaction.
 */
export async function lockInstallation(tx: Tx): Promise<void> {
  if (tx.engine === 'sqlite') return
  await disableTimeouts(tx)
  await sql`SELECT pg_advisory_xact_lock(${installation_lock})`.execute(tx)
}
