import { type Clock, isoTime } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { service } from '../../events/context.ts'
import { closeAccount, left_days, lockAccount, removeClosed } from './deletion.ts'
import { removeOldFailures } from './throttle.ts'

const day_ms = 24 * 3600 * 1000
const batch = 200

/**
 * Removes sessions that are over, invitations a month after their end, failures of signing in after a day, and accounts that
 * have been in no workspace for 30 days, or whose removal was interrupted.
 */
export async function removeOver(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const now = clock.now()
  const inOne = (work: (tx: Db) => Promise<number>): Promise<number> => {
    stopping?.throwIfAborted()
    return transaction(db, work)
  }
  while ((await inOne((tx) => removeExpired(tx, 'sessions', isoTime(now)))) === batch);
  while ((await inOne((tx) => removeExpired(tx, 'invitations', isoTime(now - 30 * day_ms)))) === batch);
  while ((await inOne((tx) => removeOldFailures(tx, clock.elapsed(), batch))) === batch);
  const left_before = isoTime(now - left_days * day_ms)
  for (const { id } of await leftBefore(db, left_before)) {
    if (await inOne((tx) => closeLeft(tx, clock, id, left_before))) await removeClosed(db, id, isoTime(now))
  }
}

// The rest of them in the next hour.
const leftBefore = (db: Db, before: string) =>
  db.selectFrom('users').select('id').where('left_at', '<=', before).limit(batch).execute()

async function closeLeft(tx: Db, clock: Clock, id: string, before: string): Promise<number> {
  await lockAccount(tx, id)
  const still = tx.selectFrom('users').select('id').where('id', '=', id).where('left_at', '<=', before)
  if (!(await still.executeTakeFirst())) return 0
  const now_ms = clock.now()
  const context = { actor: service, request_id: null, now: isoTime(now_ms), now_ms, elapsed: clock.elapsed }
  await closeAccount(tx, context, id)
  return 1
}

async function removeExpired(tx: Db, table: 'sessions' | 'invitations', before: string): Promise<number> {
  const over = await tx
    .selectFrom(table)
    .select('id')
    .where('expires_at', '<=', before)
    .limit(batch)
    .execute()
  const ids = over.map(({ id }) => id)
  // By its end too: a session may have been used meanwhile.
  if (ids.length)
    await tx.deleteFrom(table).where('id', 'in', ids).where('expires_at', '<=', before).execute()
  return ids.length
}
