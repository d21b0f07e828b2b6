import type { Tx } from './tx.ts'

/** Removes the pairs of records that are removed for good. */
export async function forgetDismissals(
  tx: Tx,
  workspace_id: number,
  kind: string,
  ids: readonly number[],
): Promise<void> {
  for (const column of ['first_id', 'second_id'] as const)
    await tx
      .deleteFrom('dismissed_pairs')
      .where((eb) => eb.and({ workspace_id, kind }))
      .where(column, 'in', ids)
      .execute()
}
