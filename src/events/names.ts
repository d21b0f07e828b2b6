import type { Db } from '../db/db.ts'
import { prepare } from '../db/statements/prepare.ts'
import { sideOf } from './audit.ts'

// Changes of accounts that are looked at, the newest ones. A workspace has at most 2,000 members.
const max_changes = 2000
const max_names = 5

const changes = prepare((p: { workspace_id: number }, db) =>
  db
    .selectFrom('audit_log')
    .select(['record_id', 'before'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, kind: 'users' }))
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(max_changes),
)

/**
 * The former names of a workspace's members by their ids, newest first, at most 5 of each. The audit log has them, and
 * keeps them as long as its other entries.
 */
export async function formerNames(db: Db, workspace_id: number): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>()
  for (const { record_id: id, before } of await changes(db, { workspace_id })) {
    const name = sideOf(before)?.name
    const known = names.get(id) ?? []
    if (typeof name !== 'string' || known.includes(name) || known.length === max_names) continue
    names.set(id, [...known, name])
  }
  return names
}
