import type { Tx } from '../../db/db.ts'

/** Removes what belongs to a member alone: notifications, private views and the order of tabs. Shared views stay. */
export async function removeBelongings(tx: Tx, workspace_id: number, user_id: string): Promise<void> {
  for (const table of ['notifications', 'view_tabs'] as const)
    await tx
      .deleteFrom(table)
      .where((eb) => eb.and({ workspace_id, user_id }))
      .execute()
  await tx
    .deleteFrom('saved_views')
    .where((eb) => eb.and({ workspace_id, created_by: user_id, visibility: 'private' }))
    .execute()
}
