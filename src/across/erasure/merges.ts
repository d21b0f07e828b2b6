import { type Db, type Tx, transaction } from '../../db/db.ts'

/** The records that were merged into a record. */
export async function mergedIds(
  tx: Tx,
  workspace_id: number,
  kind: string,
  survivor_id: number,
): Promise<number[]> {
  const rows = await tx
    .selectFrom('merged_records')
    .select('record_id')
    .where((eb) => eb.and({ workspace_id, kind, survivor_id }))
    .orderBy('record_id')
    .execute()
  return rows.map(({ record_id }) => record_id)
}

/**
 * Removes the values that merges of a record keep for an undo: they may be values of the other records. These merges can
 * no longer be undone. That the record was merged stays known.
 */
export async function forgetMergesOf(db: Db, workspace_id: number, kind: string, id: number): Promise<void> {
  await transaction(db, async (tx) => {
    const merged = tx
      .selectFrom('merged_records')
      .select('merge_id')
      .where((eb) => eb.and({ workspace_id, kind, record_id: id }))
    await tx
      .updateTable('merges')
      .set({ changes: null })
      .where((eb) => eb.and({ workspace_id, kind, status: 'done' }))
      .where((eb) => eb.or([eb('survivor_id', '=', id), eb('id', 'in', merged)]))
      .execute()
  })
}
