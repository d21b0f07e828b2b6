import { type Clock, isoTime } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'

/** Makes a workspace and returns its id. */
export async function insertWorkspace(db: Db, clock: Clock, name: string): Promise<number> {
  const row = await transaction(db, (tx) =>
    tx
      .insertInto('workspaces')
      .values({ name, created_at: isoTime(clock.now()) })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return row.id
}

/** All workspaces, oldest first. */
export const listWorkspaces = (db: Db) => db.selectFrom('workspaces').selectAll().orderBy('id').execute()
