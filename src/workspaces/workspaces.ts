import { type Clock, isoTime } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'

/** Makes a workspace and returns its id. */
export const insertWorkspace = (db: Db, clock: Clock, name: string): Promise<number> =>
  transaction(db, (tx) => add(tx, clock, name))

/** Makes the workspace that an empty installation needs, and returns its id; null when there is one already. */
export const firstWorkspace = (db: Db, clock: Clock): Promise<number | null> =>
  transaction(db, async (tx) => {
    const before = await tx.selectFrom('workspaces').select('id').limit(1).executeTakeFirst()
    return before ? null : add(tx, clock, 'My workspace')
  })

async function add(tx: Db, clock: Clock, name: string): Promise<number> {
  const row = await tx
    .insertInto('workspaces')
    .values({ name, created_at: isoTime(clock.now()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** All workspaces, oldest first. */
export const listWorkspaces = (db: Db) => db.selectFrom('workspaces').selectAll().orderBy('id').execute()
