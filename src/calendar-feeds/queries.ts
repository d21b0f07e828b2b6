import type { Db, Tx } from '../db/db.ts'
import { countRows } from '../db/lists/counts.ts'
import type { CalendarFeed, FeedFields } from './schema.ts'

/** The person whose feeds they are, in a workspace. */
export type Owner = { workspace_id: number; user_id: string }

const columns = ['id', 'name', 'activities', 'details', 'created_at', 'last_read_at'] as const

const feedsOf = (db: Db, owner: Owner) => db.selectFrom('calendar_feeds').where((eb) => eb.and(owner))

/** The feeds of a person, the newest first. Ids grow with time. */
export const listFeeds = (db: Db, owner: Owner): Promise<CalendarFeed[]> =>
  feedsOf(db, owner).select(columns).orderBy('id', 'desc').execute()

export const findFeed = async (db: Db, owner: Owner, id: string): Promise<CalendarFeed | null> =>
  (await feedsOf(db, owner).select(columns).where('id', '=', id).executeTakeFirst()) ?? null

export const countFeeds = (db: Db, owner: Owner): Promise<number> => countRows(feedsOf(db, owner))

type New = Owner & FeedFields & { id: string; hash: string; created_at: string }
export async function insertFeed(tx: Tx, feed: New): Promise<void> {
  await tx.insertInto('calendar_feeds').values(feed).execute()
}

export async function updateFeed(tx: Tx, id: string, changes: Partial<FeedFields>): Promise<void> {
  await tx.updateTable('calendar_feeds').set(changes).where('id', '=', id).execute()
}

export async function removeFeed(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('calendar_feeds').where('id', '=', id).execute()
}

export type OpenFeed = Owner & FeedFields & { id: string; role: string }

/** The feed of a token, with the present role of its person; null for an unknown token, and after the membership. */
export const openFeed = async (db: Db, hash: string): Promise<OpenFeed | null> =>
  (await db
    .selectFrom('calendar_feeds as f')
    .innerJoin('memberships as m', (on) =>
      on.onRef('m.workspace_id', '=', 'f.workspace_id').onRef('m.user_id', '=', 'f.user_id'),
    )
    .select(['f.id', 'f.workspace_id', 'f.user_id', 'f.name', 'f.activities', 'f.details', 'm.role'])
    .where('f.hash', '=', hash)
    .executeTakeFirst()) ?? null

/** Notes when a feed was read. */
export async function recordFeedRead(db: Db, id: string, now: string): Promise<void> {
  await db.updateTable('calendar_feeds').set({ last_read_at: now }).where('id', '=', id).execute()
}
