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

/**
 * Works through the rows that `find` returns until there are none, each in a transaction of its own. A row that fails stays, and the
 * others go on. The first error is thrown at the end.
 */
export async function oneByOne<Row extends { workspace_id: number; id: number }>(
  db: Db,
  stopping: AbortSignal | undefined,
  find: (limit: number) => Promise<Row[]>,
  work: (tx: Tx, row: Row) => Promise<void>,
): Promise<void> {
  const failures = new Map<string, unknown>()
  for (let more = true; more; ) {
    // The query finds failed rows again.
    const limit = batch + failures.size
    const found = await find(limit)
    for (const row of found) {
      stopping?.throwIfAborted()
      const key = `${row.workspace_id}/${row.id}`
      if (failures.has(key)) continue
      await transaction(db, (tx) => work(tx, row)).catch((error) => failures.set(key, error))
    }
    more = found.length === limit
  }
  for (const error of failures.values()) throw error
}
