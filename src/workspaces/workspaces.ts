import { type Clock, isoTime } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { lockInstallation } from '../db/locks.ts'

/** Makes a workspace and returns its id. */
export async function insertWorkspace(tx: Db, clock: Clock, name: string): Promise<number> {
  const row = await tx
    .insertInto('workspaces')
    .values({ name, created_at: isoTime(clock.now()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Makes the workspace that an empty installation needs, and returns its id; null when there is one already. */
export async function firstWorkspace(tx: Db, clock: Clock): Promise<number | null> {
  await lockInstallation(tx)
  const before = await tx.selectFrom('workspaces').select('id').limit(1).executeTakeFirst()
  return before ? null : insertWorkspace(tx, clock, 'My workspace')
}

/** All workspaces, oldest first. */
export const listWorkspaces = (db: Db) => db.selectFrom('workspaces').selectAll().orderBy('id').execute()
