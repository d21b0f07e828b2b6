import type { Clock } from '../clock.ts'
import { type Db, type Tx, transaction } from '../db/db.ts'

const interval_ms = 60_000
// At this size the map is cleared. Some uses are then recorded twice in a minute.
const max_ids = 10_000

/** Records the use of keys or sessions, at most once a minute for each id: a read must not cost a write. */
export function createUseRecorder(
  db: Db,
  clock: Clock,
  record: (tx: Tx, id: string, now_ms: number) => Promise<unknown>,
): (id: string) => void {
  const recorded_at = new Map<string, number>()
  return (id) => {
    // Somebody may set the wall clock.
    const elapsed_ms = clock.elapsed()
    if (elapsed_ms - (recorded_at.get(id) ?? -Infinity) < interval_ms) return
    if (recorded_at.size >= max_ids) recorded_at.clear()
    recorded_at.set(id, elapsed_ms)
    transaction(db, (tx) => record(tx, id, clock.now())).catch(() => recorded_at.delete(id))
  }
}
