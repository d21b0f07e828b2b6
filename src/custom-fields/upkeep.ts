import { sql } from 'kysely'
import { tryLockRow } from '../db/locks.ts'
import type { WorkSteps } from '../work/run.ts'
import { undoUnchecked } from './queries.ts'

const batch = 500

/** Undoes a definition whose check a crash interrupted. Removes the stored values of a deleted one, and then its row. */
export const definitionWork: WorkSteps = {
  kind: 'custom_field',
  async step(tx, { workspace_id, subject }) {
    const id = Number(subject)
    // A request locks the definition first, and then this work.
    if (!(await tryLockRow(tx, 'field_definitions', workspace_id, id))) return 'later'
    await undoUnchecked(tx, workspace_id, id)
    const of_removed = sql`workspace_id = ${workspace_id} AND definition_id = ${id} AND EXISTS (
      SELECT 1 FROM field_definitions WHERE workspace_id = ${workspace_id} AND id = ${id} AND status = 'removed')`
    const { numAffectedRows = 0n } =
      await sql`DELETE FROM defined_values WHERE ${of_removed} AND record_id IN (
      SELECT record_id FROM defined_values WHERE workspace_id = ${workspace_id} AND definition_id = ${id}
      ORDER BY record_id LIMIT ${batch})`.execute(tx)
    // A check that still runs ends with 409.
    if (numAffectedRows) return { state: 'removing' }
    await tx
      .deleteFrom('field_definitions')
      .where((eb) => eb.and({ workspace_id, id, status: 'removed' }))
      .execute()
    return 'done'
  },
}
