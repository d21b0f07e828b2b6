import type { Db, Tx } from '../../db/db.ts'
import { countRows } from '../../db/lists/counts.ts'
import { lockEntry } from '../../db/locks.ts'
import { isAnyOf, listParameter } from '../../db/statements/recordset.ts'
import type { Tables } from '../../db/tables.ts'
import { forbidden } from '../../errors.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import type { Actor } from '../../events/context.ts'
import type { View, ViewFields } from './schema.ts'

const columns = [
  ...(['id', 'list', 'name', 'query', 'visibility', 'created_by', 'updated_by'] as const),
  ...(['created_at', 'updated_at'] as const),
]

/** The person or key that reads. A private view is shown only to the person who made it. */
export type Reader = Pick<Actor, 'kind' | 'id'>

const seenBy = (db: Db, workspace_id: number, { kind, id }: Reader) =>
  db
    .selectFrom('saved_views')
    .select(columns)
    .where('workspace_id', '=', workspace_id)
    .where((is) =>
      is.or([is('visibility', '=', 'shared'), ...(kind === 'person' ? [is('created_by', '=', id)] : [])]),
    )

type Row = Omit<View, 'created_by' | 'updated_by'> & Record<'created_by' | 'updated_by', string | null>

/** Views with the present names of their authors. */
async function shown(db: Db, workspace_id: number, rows: readonly Row[]): Promise<View[]> {
  const texts = rows.flatMap(({ created_by, updated_by }) => [created_by, updated_by])
  const stored = [...new Set(texts.filter((text) => text !== null))]
  const actors = await namedActors(db, workspace_id, stored.map(actorOf))
  const authorOf = (text: string | null) => (text === null ? null : (actors[stored.indexOf(text)] ?? null))
  return rows.map(({ created_by, updated_by, ...row }) => ({
    ...row,
    created_by: authorOf(created_by),
    updated_by: authorOf(updated_by),
  }))
}

/** All views that a reader sees, or those of some lists, newest first. Ids grow with time. */
export async function listViews(
  db: Db,
  workspace_id: number,
  reader: Reader,
  lists: readonly string[] | undefined,
): Promise<View[]> {
  const all = seenBy(db, workspace_id, reader)
  const some = lists ? all.where(isAnyOf(db, 'list', listParameter(db, lists), 'text')) : all
  const rows = await some.orderBy('id', 'desc').execute()
  return shown(db, workspace_id, rows)
}

/** A view that the reader sees, or null. */
export async function findView(
  db: Db,
  workspace_id: number,
  reader: Reader,
  id: string,
): Promise<View | null> {
  const rows = await seenBy(db, workspace_id, reader).where('id', '=', id).execute()
  return (await shown(db, workspace_id, rows))[0] ?? null
}

/** The person for whom an import made a view. Null if the view was deleted. */
export async function findMaker(db: Db, workspace_id: number, id: string): Promise<Actor | null> {
  const row = await db
    .selectFrom('saved_views')
    .select('created_by')
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  return row ? actorOf(row.created_by ?? 'service') : null
}

/** The number of shared views of a workspace, or of a member's private ones. */
export function countViews(
  db: Db,
  workspace_id: number,
  { visibility, maker }: { visibility: View['visibility']; maker: string | null },
): Promise<number> {
  const all = db.selectFrom('saved_views').where('workspace_id', '=', workspace_id)
  const counted = all.where('visibility', '=', visibility)
  return countRows(visibility === 'private' ? counted.where('created_by', '=', maker) : counted)
}

type Stored = ViewFields & { id: string; created_by: string | null; updated_by: string }

/** Adds a view. */
export async function insertView(tx: Tx, workspace_id: number, now: string, view: Stored): Promise<void> {
  await tx
    .insertInto('saved_views')
    .values({ ...view, workspace_id, created_at: now, updated_at: now })
    .execute()
}

/** Changes the given fields. */
export async function updateView(
  tx: Tx,
  workspace_id: number,
  id: string,
  changes: Partial<ViewFields> & { updated_by: string; updated_at: string },
): Promise<void> {
  await tx
    .updateTable('saved_views')
    .set(changes)
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

/** Deletes a view for good. */
export async function removeView(tx: Tx, workspace_id: number, id: string): Promise<void> {
  await tx
    .deleteFrom('saved_views')
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

/**
 * Holds a membership until the end of the transaction. If a concurrent removal of the member has committed, this throws
 * 403. Otherwise the removal waits, and then removes what this transaction writes.
 */
export async function holdMember(tx: Tx, workspace_id: number, user_id: string): Promise<void> {
  await lockEntry(tx, 'users', user_id)
  const member = await tx
    .selectFrom('memberships')
    .select('user_id')
    .where((eb) => eb.and({ workspace_id, user_id }))
    .executeTakeFirst()
  if (!member) throw forbidden('This person is no longer a member of the workspace.')
}

type OwnTabs = { workspace_id: number; user_id: string }
type Tabs = Pick<Tables['view_tabs'], 'list' | 'tabs' | 'default_tab'>

/** The tabs of a member, of the lists for which there are any. */
export const readTabs = (db: Db, { workspace_id, user_id }: OwnTabs): Promise<Tabs[]> =>
  db
    .selectFrom('view_tabs')
    .select(['list', 'tabs', 'default_tab'])
    .where((eb) => eb.and({ workspace_id, user_id }))
    .execute()

/** Stores the tabs of a member for a list. */
export async function writeTabs(tx: Tx, own: OwnTabs, { list, ...values }: Tabs): Promise<void> {
  await tx
    .insertInto('view_tabs')
    .values({ ...own, list, ...values })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id', 'list']).doUpdateSet(values))
    .execute()
}
