import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import { inBatches } from '../db/batches.ts'
import { type Db, transaction } from '../db/db.ts'
import { undoUnchecked } from './queries.ts'

const batch = 500

/**
 * Undoes definitions whose check a crash interrupted, and removes the stored values of deleted definitions. Several processes
 * may run it at once. It may be stopped between two batches.
 */
export async function keepUpDefinitions(db: Db, clock: Clock, stopping: AbortSignal): Promise<void> {
  const lapsed = await db
    .selectFrom('field_definitions')
    .select(['workspace_id', 'id', 'status'])
    .where('checked_until_ms', 'is not', null)
    .where('checked_until_ms', '<=', clock.elapsed())
    .execute()
  for (const { workspace_id, id, status } of lapsed) {
    if (status !== 'removed') await transaction(db, (tx) => undoUnchecked(tx, workspace_id, id))
    if (status !== 'changing') await removeDefinition(db, workspace_id, id, stopping)
  }
}

async function removeDefinition(
  db: Db,
  workspace_id: number,
  id: number,
  stopping: AbortSignal,
): Promise<void> {
  const mine = sql`workspace_id = ${workspace_id} AND definition_id = ${id}`
  await inBatches(db, stopping, async (tx) => {
    const { numAffectedRows } = await sql`DELETE FROM defined_values WHERE ${mine} AND record_id IN (
      SELECT record_id FROM defined_values WHERE ${mine} ORDER BY record_id LIMIT ${batch})`.execute(tx)
    return Number(numAffectedRows)
  })
  await transaction(db, (tx) =>
    tx
      .deleteFrom('field_definitions')
      .where((eb) => eb.and({ workspace_id, id, status: 'removed' }))
      .execute(),
  )
}
