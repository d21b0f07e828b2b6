import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import type { NotificationsTable } from '../../db/tables.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import type { Resource } from '../../resources/resource.ts'
import { titlesOf } from '../titles.ts'
import type { Notification } from './schema.ts'

/** Whose notifications, and the kinds of records that the person may read; null: all. */
export type Reader = { workspace_id: number; user_id: string; kinds: readonly string[] | null }

/** Where a list goes on: after this time and id. */
export type Position = [occurred_at: string, id: number]

/** A member keeps this many; the job removes older ones. */
export const max_kept = 500

const shownTo = (db: Db, { workspace_id, user_id, kinds }: Reader) => {
  const all = db
    .selectFrom('notifications')
    .where((eb) => eb.and({ workspace_id, user_id }))
    .where('held_by', 'is', null)
  return kinds ? all.where('record_kind', 'in', kinds.length ? [...kinds] : ['']) : all
}

/** The number of unread notifications; counts at most as many as a member keeps. */
export async function countUnread(db: Db, reader: Reader): Promise<number> {
  const unread = shownTo(db, reader).where('read_at', 'is', null).select('id').limit(max_kept)
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (${unread}) AS unread`.execute(db)
  return Number(rows[0]?.n)
}

type Page = { unread: boolean | null; after: Position | null; limit: number }

/** Notifications, the newest first. */
export function listNotifications(
  db: Db,
  reader: Reader,
  { unread, after, limit }: Page,
): Promise<Selectable<NotificationsTable>[]> {
  let query = shownTo(db, reader).selectAll()
  if (unread !== null) query = query.where('read_at', unread ? 'is' : 'is not', null)
  if (after) query = query.where(sql<boolean>`(occurred_at, id) < (${after[0]}, ${after[1]})`)
  return query.orderBy('occurred_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

/** Marks unread notifications as read; returns their number. */
export async function markRead(
  tx: Tx,
  { workspace_id, user_id }: Reader,
  now: string,
  { ids, before }: { ids?: readonly number[] | undefined; before?: string | undefined },
): Promise<number> {
  let query = tx
    .updateTable('notifications')
    .set({ read_at: now, changed_at: now })
    .where((eb) => eb.and({ workspace_id, user_id }))
    .where('held_by', 'is', null)
    .where('read_at', 'is', null)
  if (ids) query = query.where('id', 'in', [...ids])
  if (before !== undefined) query = query.where('occurred_at', '<=', before)
  return Number((await query.executeTakeFirst()).numUpdatedRows)
}

/** Notifications as answers show them, with the present names of records and actors. */
export async function shownNotifications(
  db: Db,
  workspace_id: number,
  resources: readonly Resource[],
  rows: readonly Selectable<NotificationsTable>[],
): Promise<Notification[]> {
  const actors = await namedActors(
    db,
    workspace_id,
    rows.map(({ actor }) => actorOf(actor)),
  )
  const records = rows.map(({ record_kind, record_id }) => ({ kind: record_kind, id: record_id }))
  const titleOf = await titlesOf(db, workspace_id, resources, records)
  return rows.map((row, n) => {
    const { id, kind, record_kind, record_id, note_id, records, outcome, occurred_at, read_at } = row
    const title = titleOf(record_kind, record_id)
    const shown_id = /^\d+$/.test(record_id) ? Number(record_id) : record_id
    const record = { kind: record_kind, id: shown_id, title }
    const actor = actors[n] as Notification['actor']
    return { id, kind, record, note_id, records, outcome, actor, occurred_at, read_at }
  })
}
