import type { Db } from '../../db/db.ts'
import { readEntries } from '../audit/queries.ts'

/** The changes that entries of the audit log show, by the ids of the entries. Long sides are left out. */
export async function changes(db: Db, workspace_id: number, ids: number[]): Promise<Map<number, object>> {
  const entries = [...(await readEntries(db, workspace_id, ids))]
  return new Map(
    entries.map(([id, { action, actor, before, after, request_id }]) => [
      id,
      { action, actor, before, after, request_id },
    ]),
  )
}
