import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf, recount } from '../../db/lists/counts.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Tables } from '../../db/tables.ts'
import type { BookingPage, PageFields } from './schema.ts'

type Row = Omit<Selectable<Tables['booking_pages']>, 'workspace_id' | 'deleted_at'>
/** The columns that are never long. */
export const short_columns = [
  'id',
  'slug',
  'title',
  'duration_minutes',
  'buffer_minutes',
  'minimum_notice_minutes',
  'horizon_days',
  'open_bookings_per_email',
  'bookings_per_address_per_day',
  'bookings_per_hour',
  'time_zone',
  'active',
  'approval',
  'created_at',
  'updated_at',
] as const
const page_columns = [...short_columns, 'description', 'availability', 'date_overrides'] as const

const shownPage = (row: Row): BookingPage => ({
  ...row,
  availability: JSON.parse(row.availability),
  date_overrides: JSON.parse(row.date_overrides),
  active: row.active === 1,
  approval: row.approval === 1,
})

const live = prepare((db, p: { workspace_id: number; id: number }) =>
  db
    .selectFrom('booking_pages')
    .select(page_columns)
    .where('workspace_id', '=', p.workspace_id)
    .where('id', '=', p.id)
    .where('deleted_at', 'is', null),
)

/** A live booking page, or null. */
export async function findBookingPage(db: Db, workspace_id: number, id: number): Promise<BookingPage | null> {
  const [row] = await live(db, { workspace_id, id })
  return row ? shownPage(row) : null
}

const bySlug = prepare((db, p: { slug: string }) =>
  db
    .selectFrom('booking_pages')
    .select(['workspace_id', ...page_columns])
    .where('slug', '=', p.slug)
    .where('deleted_at', 'is', null),
)

/** The page that visitors see at an address, of whichever workspace: live and active, or null. */
export async function findPublicPage(
  db: Db,
  slug: string,
): Promise<{ workspace_id: number; page: BookingPage } | null> {
  const [row] = await bySlug(db, { slug })
  if (!row) return null
  const { workspace_id, ...rest } = row
  const page = shownPage(rest)
  return page.active ? { workspace_id, page } : null
}

/** How many live booking pages a workspace has. */
export const countBookingPages = (db: Db, workspace_id: number): Promise<number> =>
  countOf(db, workspace_id, 'booking_pages')

/** Whether another live page of the installation has this slug. */
export async function slugTaken(db: Db, slug: string, except_id: number | null): Promise<boolean> {
  const [row] = await bySlug(db, { slug })
  return row !== undefined && row.id !== except_id
}

/** Adds a booking page; returns its id. The database refuses a slug that a live page has (booking_pages_slug). */
export async function insertBookingPage(
  tx: Db,
  { workspace_id, now }: { workspace_id: number; now: string },
  { availability, date_overrides, active, approval, ...fields }: PageFields,
): Promise<number> {
  const { id } = await tx
    .insertInto('booking_pages')
    .values({
      ...fields,
      availability: JSON.stringify(availability),
      date_overrides: JSON.stringify(date_overrides),
      active: active ? 1 : 0,
      approval: approval ? 1 : 0,
      workspace_id,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await recount(tx, workspace_id, 'booking_pages', [], null, fields)
  return id
}

/** Changes the given fields of a live booking page. The database refuses a slug that another one has. */
export async function updateBookingPage(
  tx: Db,
  { workspace_id, now }: { workspace_id: number; now: string },
  id: number,
  { availability, date_overrides, active, approval, ...fields }: Partial<PageFields>,
): Promise<void> {
  await tx
    .updateTable('booking_pages')
    .set({
      ...fields,
      ...(availability && { availability: JSON.stringify(availability) }),
      ...(date_overrides && { date_overrides: JSON.stringify(date_overrides) }),
      ...(active !== undefined && { active: active ? 1 : 0 }),
      ...(approval !== undefined && { approval: approval ? 1 : 0 }),
      updated_at: now,
    })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute()
}

type Range = { workspace_id: number; page_id: number; from: string; to: string }

const taken = (db: Db, p: Range) =>
  db
    .selectFrom('appointments')
    .select(['id', 'start_at', 'end_at'])
    .where('workspace_id', '=', p.workspace_id)
    .where('booking_page_id', '=', p.page_id)
    // In the text, so that the planners see which index holds exactly these.
    .where('status', 'in', [sql.lit('scheduled' as const), sql.lit('requested' as const)])
    .where('deleted_at', 'is', null)
const takenWithin = prepare((db, p: Range) =>
  taken(db, p).where('start_at', '>=', p.from).where('start_at', '<', p.to),
)
const takenBefore = prepare((db, p: Range) =>
  taken(db, p).where('start_at', '<', p.from).orderBy('start_at', 'desc').limit(1),
)

/** The live appointments and requests of a page that overlap [from, to), but for one of them where one is moved. */
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

type Lapsing = { asked_before: string; now: string; limit: number }
const lapsed = prepare((db, p: Lapsing) =>
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
export const lapsedRequests = (db: Db, which: Lapsing): Promise<{ workspace_id: number; id: number }[]> =>
  lapsed(db, which)

const trashedLink = prepare((db, p: { link_hash: string }) =>
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

const changes = prepare((db, p: { workspace_id: number; record_id: string }) =>
  db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', p.workspace_id)
    .where('kind', '=', sql.lit('appointments' as const))
    .where('record_id', '=', p.record_id),
)

/** How often an appointment was changed since it was made. */
export async function changesOfAppointment(db: Db, workspace_id: number, id: number): Promise<number> {
  const [row] = await changes(db, { workspace_id, record_id: String(id) })
  return Math.max(0, (row?.count ?? 0) - 1)
}
