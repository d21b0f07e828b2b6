import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'

const bySlug = prepare((p: { slug: string }, db) =>
  db
    .selectFrom('booking_pages')
    .select(['workspace_id', 'id'])
    .where('slug', '=', p.slug)
    .where('deleted_at', 'is', null),
)

/** The live page of the installation that has a slug; null when there is none. */
export async function findBySlug(db: Db, slug: string): Promise<{ workspace_id: number; id: number } | null> {
  const [row] = await bySlug(db, { slug })
  return row ?? null
}

type PageTimes = { workspace_id: number; page_id: number; from: string; to: string }

const taken = (db: Db, p: PageTimes) =>
  db
    .selectFrom('appointments')
    .select(['id', 'start_at', 'end_at'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, booking_page_id: p.page_id }))
    // In the text, so that the planners see which index holds exactly these.
    .where('status', 'in', [sql.lit('scheduled' as const), sql.lit('requested' as const)])
    .where('deleted_at', 'is', null)
const takenWithin = prepare((p: PageTimes, db) =>
  taken(db, p).where('start_at', '>=', p.from).where('start_at', '<', p.to),
)
const takenBefore = prepare((p: PageTimes, db) =>
  taken(db, p).where('start_at', '<', p.from).orderBy('start_at', 'desc').limit(1),
)

/** The live appointments and requests of a page that overlap [from, to), except the one that is moved. */
export async function busyTimes(
  db: Db,
  workspace_id: number,
  page_id: number,
  from: string,
  to: string,
  except_id?: number,
): Promise<{ start_ms: number; end_ms: number }[]> {
  const range = { workspace_id, page_id, from, to }
  // No two of them overlap, so only the latest that began before can reach into the range.
  const [before, within] = await Promise.all([takenBefore(db, range), takenWithin(db, range)])
  return [...before.filter(({ end_at }) => end_at > from), ...within]
    .filter(({ id }) => id !== except_id)
    .map(({ start_at, end_at }) => ({ start_ms: Date.parse(start_at), end_ms: Date.parse(end_at) }))
}
