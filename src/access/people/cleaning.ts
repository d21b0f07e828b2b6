import { sql } from 'kysely'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { batch, inBatches } from '../../db/batches.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { service } from '../../events/context.ts'
import { account_retention_days, closeAccount, lockAccount, removeClosed } from './deletion.ts'
import { remembered_ms } from './throttle.ts'

/**
 * Removes expired sessions and links for a new password, sign-in failures after a day, and invitations 30 days after they expire. Removes accounts
 * after 30 days without a workspace, and completes interrupted removals.
 */
export async function removeExpiredAccess(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const now = clock.now()
  await inBatches(db, stopping, (tx) => removeOld(tx, 'sessions', isoTime(now)))
  await inBatches(db, stopping, (tx) => removeOld(tx, 'invitations', isoTime(now - 30 * day_ms)))
  await inBatches(db, stopping, (tx) => removeOld(tx, 'reset_links', isoTime(now)))
  await inBatches(db, stopping, (tx) => removeOld(tx, 'sign_in_failures', clock.elapsed() - remembered_ms))
  const left_before = isoTime(now - account_retention_days * day_ms)
  for (const { id } of await leftBefore(db, left_before)) {
    stopping?.throwIfAborted()
    const closed = await transaction(db, (tx) => closeLeft(tx, clock, id, left_before))
    if (closed) await removeClosed(db, id, isoTime(now))
  }
}

// The next run of the job removes the rest.
const leftBefore = (db: Db, before: string) =>
  db.selectFrom('users').select('id').where('left_at', '<=', before).limit(batch).execute()

async function closeLeft(tx: Tx, clock: Clock, id: string, before: string): Promise<boolean> {
  await lockAccount(tx, id)
  const still = tx.selectFrom('users').select('id').where('id', '=', id).where('left_at', '<=', before)
  if (!(await still.executeTakeFirst())) return false
  const now_ms = clock.now()
  const context = { actor: service, request_id: null, now: isoTime(now_ms), now_ms, elapsed: clock.elapsed }
  await closeAccount(tx, context, id)
  return true
}

/** The key and the time of the tables whose rows end by themselves. */
const columns_of = {
  sessions: ['id', 'expires_at'],
  invitations: ['id', 'expires_at'],
  reset_links: ['hash', 'expires_at'],
  sign_in_failures: ['name', 'last_at_ms'],
} as const

/** Removes up to `batch` rows whose time is before another one, and returns how many. */
async function removeOld(tx: Tx, table: keyof typeof columns_of, before: string | number): Promise<number> {
  const [key, time] = columns_of[table].map((name) => sql.ref(name))
  // The outer condition is needed: a concurrent use may extend a session that the inner query finds.
  const { numAffectedRows } =
    await sql`DELETE FROM ${sql.table(table)} WHERE ${time} < ${before} AND ${key} IN (
    SELECT ${key} FROM ${sql.table(table)} WHERE ${time} < ${before} LIMIT ${batch})`.execute(tx)
  return Number(numAffectedRows)
}
