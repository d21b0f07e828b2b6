import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { cancelSomeOfBackfill, stoppedBackfill } from '../registration/removal.ts'

// Does one step of pending work. False when nothing is left, or another process does the work.
async function doStep(db: Db, clock: Clock): Promise<boolean> {
  const stopped = await stoppedBackfill(db)
  if (!stopped) return false
  const options = { skip_locked: true }
  return (await transaction(db, (tx) => cancelSomeOfBackfill(tx, stopped, clock.elapsed(), options))) > 0
}

/**
 * Cancels deliveries of stopped backfills, in small transactions. A crash may have interrupted them. Pauses after each transaction for as long as it
 * took, so it uses at most half of the time. May be stopped between two transactions.
 */
export async function drainBacklog(db: Db, clock: Clock, stopping: AbortSignal): Promise<void> {
  for (;;) {
    const began = performance.now()
    if (stopping.aborted || !(await doStep(db, clock))) return
    await pause(performance.now() - began)
  }
}
