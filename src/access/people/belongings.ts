import { removeBusyCalendars } from '../../db/busy.ts'
import type { Tx } from '../../db/db.ts'

/**
 * Removes what belongs to a member alone: notifications, private views, the order of tabs, busy calendars and
 * calendar feeds. Shared views stay.
 */
export async function removeBelongings(tx: Tx, workspace_id: number, user_id: string): Promise<void> {
  // Shown ones are found by their index, and few wait for the end of an import.
  for (const held of ['is', 'is not'] as const)
    await tx
      .deleteFrom('notifications')
      .where((eb) => eb.and({ workspace_id, user_id }))
      .where('held_by', held, null)
      .execute()
  for (const table of ['view_tabs', 'calendar_feeds'] as const)
    await tx
      .deleteFrom(table)
      .where((eb) => eb.and({ workspace_id, user_id }))
      .execute()
  await tx
    .deleteFrom('saved_views')
    .where((eb) => eb.and({ workspace_id, created_by: user_id, visibility: 'private' }))
    .execute()
  await removeBusyCalendars(tx, workspace_id, user_id)
}
