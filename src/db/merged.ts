import type { Db } from './db.ts'
import { prepare } from './statements/prepare.ts'

const merged = prepare((p: { workspace_id: number; kind: string; id: number }, db) =>
  db
    .selectFrom('merged_records')
    .select(['merge_id', 'survivor_id'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, kind: p.kind, record_id: p.id })),
)

/** The merge that moved a record to the trash, with the record that survived; null for other records. */
export async function mergeOf(
  db: Db,
  workspace_id: number,
  kind: string,
  id: number,
): Promise<{ merge_id: number; survivor_id: number } | null> {
  const [found] = await merged(db, { workspace_id, kind, id })
  return found ?? null
}

/** Returns the ids of the records that are survivors of a merge. */
export async function survivorsAmong(
  db: Db,
  workspace_id: number,
  kind: string,
  ids: readonly number[],
): Promise<number[]> {
  if (!ids.length) return []
  const rows = await db
    .selectFrom('merged_records')
    .select('survivor_id')
    .distinct()
    .where((eb) => eb.and({ workspace_id, kind }))
    .where('survivor_id', 'in', ids)
    .execute()
  return rows.map(({ survivor_id }) => survivor_id)
}

const max_merges = 100

/** The id of the record into which a record was merged; null for other records. Follows merges of that record, too. */
export async function mergedInto(
  db: Db,
  workspace_id: number,
  kind: string,
  id: number,
): Promise<number | null> {
  let last: number | null = null
  for (let n = 0; n < max_merges; n++) {
    const merge = await mergeOf(db, workspace_id, kind, last ?? id)
    if (!merge) break
    last = merge.survivor_id
  }
  return last
}
