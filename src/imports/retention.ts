import { sql } from 'kysely'
import { type Clock, day_ms, isoTime } from '../clock.ts'
import { batch, inBatches } from '../db/batches.ts'
import { type Db, transaction } from '../db/db.ts'
import { lockImport, removeFile } from './store.ts'

/**
 * Removes interrupted uploads and the files of imports that ended. Removes imports that ended `days` ago, with their
 * errors and the changes that an undo would need.
 */
export async function removeOldImports(
  db: Db,
  clock: Clock,
  days: number,
  stopping?: AbortSignal,
): Promise<void> {
  const { rows: files } = await sql<{ workspace_id: number; id: string }>`
    SELECT workspace_id, id FROM imports WHERE chunks > 0 AND (
      status IN ('succeeded', 'failed', 'cancelled', 'undone')
      OR (status = 'uploading' AND lease_ends_ms <= ${clock.elapsed()}))
      AND EXISTS (SELECT 1 FROM import_chunks AS c WHERE c.workspace_id = imports.workspace_id AND c.import_id = imports.id)`.execute(
    db,
  )
  for (const file of files) await removeFile(db, file)
  const before = isoTime(clock.now() - days * day_ms)
  const is_old = sql<boolean>`(finished_at < ${before} AND NOT EXISTS (SELECT 1 FROM work AS w
      WHERE w.workspace_id = imports.workspace_id AND w.kind = 'import_undo' AND w.subject = imports.id)
    OR status = 'uploading' AND lease_ends_ms <= ${clock.elapsed()})`
  const { rows: old } = await sql<{ workspace_id: number; id: string }>`SELECT workspace_id, id FROM imports
    WHERE ${is_old}`.execute(db)
  for (const { workspace_id, id } of old) {
    // Hide it first, as an interrupted upload: an undo that began now would lose the changes that it needs.
    const is_hidden = await transaction(db, async (tx) => {
      // An undo that begins at the same time locks it, too. A later statement sees its work.
      await lockImport(tx, workspace_id, id)
      const { numAffectedRows } =
        await sql`UPDATE imports SET status = 'uploading', lease_ends_ms = ${clock.elapsed()}
        WHERE id = ${id} AND ${is_old}`.execute(tx)
      return Number(numAffectedRows) > 0
    })
    if (!is_hidden) continue
    for (const [table, key] of [
      ['import_errors', 'number'],
      ['import_changes', 'record_id'],
    ] as const)
      await inBatches(db, stopping, async (tx) => {
        const { numAffectedRows } = await sql`DELETE FROM ${sql.table(table)}
          WHERE workspace_id = ${workspace_id} AND import_id = ${id} AND ${sql.ref(key)} IN (
            SELECT ${sql.ref(key)} FROM ${sql.table(table)}
            WHERE workspace_id = ${workspace_id} AND import_id = ${id} LIMIT ${batch})`.execute(tx)
        return Number(numAffectedRows)
      })
    await inBatches(db, stopping, async (tx) => {
      const { numAffectedRows } = await sql`DELETE FROM imports WHERE id = ${id}`.execute(tx)
      return Number(numAffectedRows)
    })
  }
}
