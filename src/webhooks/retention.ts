import { type Clock, isoTime } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { removeOldDeliveries, removeOldEvents } from './deliveries.ts'

const every_ms = 3600 * 1000
const day_ms = 24 * 3600 * 1000
// Small enough that no request waits noticeably for its transaction.
const batch = 200

/** Removes what is older than the log is kept: finished deliveries with their attempts, and events nobody needs. */
export async function removeOld(db: Db, clock: Clock, days: number): Promise<void> {
  const before = isoTime(clock.now() - days * day_ms)
  while ((await transaction(db, (tx) => removeOldDeliveries(tx, before, batch))) === batch);
  while ((await transaction(db, (tx) => removeOldEvents(tx, before, batch))) === batch);
}

/** Removes old entries now and every hour; returns the function that stops it. */
export function startRetention(
  db: Db,
  clock: Clock,
  days: number,
  onError: (error: unknown) => void,
): () => void {
  const run = () => void removeOld(db, clock, days).catch(onError)
  const first = setTimeout(run, 10_000)
  const timer = setInterval(run, every_ms)
  for (const one of [first, timer]) one.unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}
