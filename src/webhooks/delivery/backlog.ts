import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, isoTime } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { continueResend } from '../log/resends.ts'
import { continueRemoval } from '../registration/removal.ts'

// Does one step of pending deletions and resends. False when nothing is left, or another process does the work.
async function doStep(db: Db, clock: Clock): Promise<boolean> {
  const [removals, resends] = await Promise.all([
    db.selectFrom('webhook_removals').select('webhook_id').limit(1).execute(),
    db.selectFrom('webhook_resends').select('webhook_id').limit(1).execute(),
  ])
  if (removals.length && (await transaction(db, continueRemoval))) return true
  if (!resends.length) return false
  const when = { now: isoTime(clock.now()), elapsed_ms: clock.elapsed() }
  return transaction(db, (tx) => continueResend(tx, when))
}

/**
 * Finishes large deletions and resends, also those that a crash interrupted, in small transactions. Pauses after each
 * transaction for as long as it took, so it uses at most half of the time. May be stopped between two transactions.
 */
export async function workOff(db: Db, clock: Clock, stopping: AbortSignal): Promise<void> {
  for (;;) {
    const began = performance.now()
    if (stopping.aborted || !(await doStep(db, clock))) return
    await pause(performance.now() - began)
  }
}
