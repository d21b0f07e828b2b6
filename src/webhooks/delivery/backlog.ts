import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, isoTime } from '../../clock.ts'
import { type Database, type Db, transaction } from '../../db/db.ts'
import { continueResend } from '../log/resends.ts'
import { continueRemoval } from '../registration/removal.ts'

// Commits wake the backlog. The poll catches missed wake-ups, and is the delay after a failure.
const poll_ms = 1000

/** Does one step of pending deletions and resends. False when nothing is left, or another process does the work. */
export async function workOff(db: Db, clock: Clock): Promise<boolean> {
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
 * transaction for as long as it took, so it uses at most half of the time. Returns a function that stops it.
 */
export function startBacklog(
  { db, onCommit }: Pick<Database, 'db' | 'onCommit'>,
  clock: Clock,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    for (;;) {
      const began = performance.now()
      if (stopped || !(await workOff(db, clock))) return
      await pause(performance.now() - began)
    }
  }
  function wake() {
    if (stopped) return
    running ??= run()
      .catch(onError)
      .finally(() => {
        running = null
      })
  }

  onCommit('backlog', wake)
  const timer = setInterval(wake, poll_ms).unref()
  wake()
  return async () => {
    stopped = true
    clearInterval(timer)
    await running
  }
}
