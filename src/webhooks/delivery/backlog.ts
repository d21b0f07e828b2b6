import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, isoTime } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { cancelSomeOfBackfill, stoppedBackfill } from '../registration/removal.ts'
import { continueFanout } from './fanouts.ts'

// Does one step of pending work. False when nothing is left, or another process does the work.
async function doStep(db: Db, clock: Clock): Promise<boolean> {
  const [fanouts, stopped] = await Promise.all([
    db.selectFrom('webhook_fanouts').select('webhook_id').limit(1).execute(),
    stoppedBackfill(db),
  ])
  const elapsed_ms = clock.elapsed()
  const when = { now: isoTime(clock.now()), elapsed_ms }
  if (fanouts.length && (await transaction(db, (tx) => continueFanout(tx, when)))) return true
  if (stopped) {
    const options = { skip_locked: true }
    if (await transaction(db, (tx) => cancelSomeOfBackfill(tx, stopped, elapsed_ms, options))) return true
  }
  return false
}

/**
 * Inserts the deliveries of large transactions, and cancels deliveries of stopped backfills, in small transactions. A crash may have interrupted them. Pauses after each transaction for as long as it
 * took, so it uses at most half of the time. May be stopped between two transactions.
 */
export async function drainBacklog(db: Db, clock: Clock, stopping: AbortSignal): Promise<void> {
  for (;;) {
    const began = performance.now()
    if (stopping.aborted || !(await doStep(db, clock))) return
    await pause(performance.now() - began)
  }
}
