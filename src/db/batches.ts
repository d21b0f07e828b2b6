import { type Db, transaction } from './db.ts'
import type { Tx } from './tx.ts'

/** How many rows one transaction of a removal changes at most. It is short enough not to delay requests. */
export const batch = 200

/**
 * Repeats a step, each time in a transaction of its own, until it returns 0. May be stopped between two transactions. A step
 * below a whole batch is not the end: another process may have done a part of it.
 */
export async function inBatches(
  db: Db,
  stopping: AbortSignal | undefined,
  step: (tx: Tx) => Promise<number>,
): Promise<void> {
  do stopping?.throwIfAborted()
  while ((await transaction(db, step)) > 0)
}
