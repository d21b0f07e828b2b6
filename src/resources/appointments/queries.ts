import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'

type Key = { workspace_id: number; id: number }

const byLink = prepare((p: { link_hash: string }, db) =>
  db
    .selectFrom('appointments')
    .select(['workspace_id', 'id'])
    .where('link_hash', '=', p.link_hash)
    .where('deleted_at', 'is', null),
)

/** The live appointment of a private link, by the SHA-256 of the link's token; null when there is none. */
export async function findLinkedAppointment(db: Db, link_hash: string): Promise<Key | null> {
  const [row] = await byLink(db, { link_hash })
  return row ?? null
}

const trashedLink = prepare((p: { link_hash: string }, db) =>
  db
    .selectFrom('appointments')
    .select('id')
    .where('link_hash', '=', p.link_hash)
    .where('deleted_at', 'is not', null)
    .limit(1),
)

/** Whether an appointment in the trash has a private link, by the SHA-256 of its token. */
export const isTrashedLink = async (db: Db, link_hash: string): Promise<boolean> =>
  (await trashedLink(db, { link_hash })).length > 0

const stored = prepare((p: Key, db) =>
  db
    .selectFrom('appointments')
    .select(['booking_page_id', 'owner_id', 'host_ids', 'start_at', 'end_at', 'status', 'deleted_at'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, id: p.id })),
)

/** An appointment in the trash or not, with the booking page to which it refers, in the trash or not. */
export const findStored = async (db: Db, workspace_id: number, id: number) =>
  (await stored(db, { workspace_id, id }))[0] ?? null

type Lapsing = { asked_before: string; now: string; limit: number }
const lapsed = prepare((p: Lapsing, db) =>
  db
    .selectFrom('appointments')
    .select(['workspace_id', 'id'])
    .where('status', '=', sql.lit('requested' as const))
    .where('deleted_at', 'is', null)
    .where((eb) => eb.or([eb('created_at', '<=', p.asked_before), eb('start_at', '<=', p.now)]))
    .orderBy('created_at')
    .limit(p.limit),
)

/** Live requests of all workspaces that were made until a time, or whose own time has come, the oldest first. */
export const lapsedRequests = (db: Db, which: Lapsing): Promise<Key[]> => lapsed(db, which)
