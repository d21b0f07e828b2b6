import type { Db } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import type { View } from './schema.ts'

const columns = ['id', 'list', 'name', 'query', 'created_at', 'updated_at'] as const

/** All views of a workspace, or those of one list, newest first. Ids grow with time. */
export async function listViews(db: Db, workspace_id: number, list: string | undefined): Promise<View[]> {
  const all = db.selectFrom('saved_views').select(columns).where('workspace_id', '=', workspace_id)
  return (list ? all.where('list', '=', list) : all).orderBy('id', 'desc').execute()
}

/** The number of views of a workspace. */
export const countViews = (db: Db, workspace_id: number): Promise<number> =>
  countRows(db.selectFrom('saved_views').where('workspace_id', '=', workspace_id))

/** A view of the workspace, or null. */
export async function findView(db: Db, workspace_id: number, id: string): Promise<View | null> {
  const row = await db
    .selectFrom('saved_views')
    .select(columns)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? null
}

type Fields = Pick<View, 'list' | 'name' | 'query'>

/** Adds a view. */
export async function insertView(
  tx: Db,
  workspace_id: number,
  now: string,
  view: Fields & { id: string },
): Promise<void> {
  await tx
    .insertInto('saved_views')
    .values({ ...view, workspace_id, created_at: now, updated_at: now })
    .execute()
}

/** Changes the given fields. */
export async function updateView(
  tx: Db,
  workspace_id: number,
  id: string,
  now: string,
  changes: Partial<Fields>,
): Promise<void> {
  await tx
    .updateTable('saved_views')
    .set({ ...changes, updated_at: now })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute()
}

/** Deletes a view for good. */
export async function removeView(tx: Db, workspace_id: number, id: string): Promise<void> {
  await tx.deleteFrom('saved_views').where('workspace_id', '=', workspace_id).where('id', '=', id).execute()
}
