import type { Db, Tx } from '../../db/db.ts'

// The rows of the throttle. Times are service time, in ms.

export type FailureRow = { failures: number; last_at_ms: number; blocked_until_ms: number }

const columns = ['failures', 'last_at_ms', 'blocked_until_ms'] as const

/** Locks the row with a name, and makes it if there is none. */
export const lockFailures = (tx: Tx, name: string, now_ms: number): Promise<FailureRow> =>
  tx
    .insertInto('sign_in_failures')
    .values({ name, failures: 0, last_at_ms: now_ms, blocked_until_ms: 0 })
    // The update changes nothing, but locks the row and returns it.
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ name }))
    .returning(columns)
    .executeTakeFirstOrThrow()

/** The rows with these names, without a lock. */
export async function readFailures(db: Db, names: string[]): Promise<Map<string, FailureRow>> {
  const rows = await db
    .selectFrom('sign_in_failures')
    .select(['name', ...columns])
    .where('name', 'in', names)
    .execute()
  return new Map(rows.map((row) => [row.name, row]))
}

export const updateFailures = (tx: Tx, name: string, row: FailureRow) =>
  tx.updateTable('sign_in_failures').set(row).where('name', '=', name).execute()

export const removeFailures = (tx: Tx, name: string) =>
  tx.deleteFrom('sign_in_failures').where('name', '=', name).execute()
