import { type Clock, isoTime, repeat, type Timing } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { removeOldFailures } from './throttle.ts'

const day_ms = 24 * 3600 * 1000
/** When it is done: after the start, and from then on. */
export const cleaning: Timing = { first_ms: 20_000, every_ms: 3600 * 1000 }
const batch = 200

/** Removes sessions that are over, invitations a month after their end, and failures of signing in after a day. */
export async function removeOver(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const now = clock.now()
  const inOne = (work: (tx: Db) => Promise<number>): Promise<number> => {
    stopping?.throwIfAborted()
    return transaction(db, work)
  }
  while ((await inOne((tx) => removeExpired(tx, 'sessions', isoTime(now)))) === batch);
  while ((await inOne((tx) => removeExpired(tx, 'invitations', isoTime(now - 30 * day_ms)))) === batch);
  while ((await inOne((tx) => removeOldFailures(tx, clock.elapsed(), batch))) === batch);
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

/** Cleans soon and every hour; returns the function that stops it. */
export const startCleaning = (
  db: Db,
  clock: Clock,
  onError: (error: unknown) => void,
  timing: Timing = cleaning,
) => repeat((stopping) => removeOver(db, clock, stopping), timing, onError)
