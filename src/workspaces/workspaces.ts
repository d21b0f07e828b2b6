import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { lockInstallation } from '../db/locks.ts'
import { recordChange } from '../events/audit.ts'
import { type Actor, contextOf } from '../events/context.ts'

/** Makes a workspace and returns its id. */
export async function insertWorkspace(tx: Db, clock: Clock, actor: Actor, name: string): Promise<number> {
  const { id } = await tx
    .insertInto('workspaces')
    .values({ name, created_at: isoTime(clock.now()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  await recordChange(tx, contextOf(clock, { workspace_id: id, actor, request_id: null }), {
    ...{ action: 'created', kind: 'workspaces', record_id: id },
    after: { name },
  })
  return id
}

/** Makes the workspace that an empty installation needs, and returns its id; null when there is one already. */
export async function firstWorkspace(tx: Db, clock: Clock, actor: Actor): Promise<number | null> {
  await lockInstallation(tx)
  const before = await tx.selectFrom('workspaces').select('id').limit(1).executeTakeFirst()
  return before ? null : insertWorkspace(tx, clock, actor, 'My workspace')
}

/** All workspaces, oldest first. */
export const listWorkspaces = (db: Db) => db.selectFrom('workspaces').selectAll().orderBy('id').execute()
