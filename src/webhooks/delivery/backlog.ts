import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, isoTime } from '../../clock.ts'
import { type Database, type Db, transaction } from '../../db/db.ts'
import { goOnResending } from '../log/resends.ts'
import { goOnRemoving } from '../registration/removal.ts'

// Commits wake it; this is the net below, and how long after a failure it tries again.
const look_ms = 1000

/** Does one step of what deletions and resends left for later; false when nothing is left, or others do it. */
export async function workOff(db: Db, clock: Clock): Promise<boolean> {
  const [removals, resends] = await Promise.all([
    db.selectFrom('webhook_removals').select('webhook_id').limit(1).execute(),
    db.selectFrom('webhook_resends').select('webhook_id').limit(1).execute(),
  ])
  if (removals.length && (await transaction(db, goOnRemoving))) return true
  if (!resends.length) return false
  const when = { now: isoTime(clock.now()), elapsed_ms: clock.elapsed() }
  return transaction(db, (tx) => goOnResending(tx, when))
}

/**
 * Works off what deletions and resends of many deliveries left, also of before a crash: in small transactions, and with a
 * rest after each, so that half of the time is for others. Returns the function that stops it between two of them.
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
  const timer = setInterval(wake, look_ms).unref()
  wake()
  return async () => {
    stopped = true
    clearInterval(timer)
    await running
  }
}
