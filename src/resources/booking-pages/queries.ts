import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { prepare } from '../../db/statements/prepare.ts'
import { isAnyOf, listParameter } from '../../db/statements/recordset.ts'
import type { Context } from '../../events/context.ts'
import type { PageFields } from './schema.ts'

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

/** The part of a page that says who receives its visitors. */
export type Hosting = Pick<PageFields, 'hosts' | 'assignment' | 'stale_calendars'> & { id: number }

const hostingOf = prepare((p: { workspace_id: number; id: number }, db) =>
  db
    .selectFrom('booking_pages')
    .select(['id', 'hosts', 'assignment', 'stale_calendars'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, id: p.id })),
)

/** The hosts of a page, in the trash or not; null when there is no such page. */
export async function findHosting(db: Db, workspace_id: number, id: number): Promise<Hosting | null> {
  const [row] = await hostingOf(db, { workspace_id, id })
  return row ? { ...row, hosts: JSON.parse(row.hosts) } : null
}

type People = { workspace_id: number; ids: unknown }
const members = prepare((p: People, db) =>
  db
    .selectFrom('memberships')
    .select('user_id')
    .where('workspace_id', '=', p.workspace_id)
    .where(isAnyOf(db, 'user_id', p.ids, 'text')),
)

/** The members of a workspace among some people. */
export async function membersAmong(
  db: Db,
  workspace_id: number,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = ids.length ? await members(db, { workspace_id, ids: listParameter(db, ids) }) : []
  return new Set(found.map(({ user_id }) => user_id))
}

const names = prepare((p: People, db) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id', 'u.name'])
    .where('m.workspace_id', '=', p.workspace_id)
    .where(isAnyOf(db, 'm.user_id', p.ids, 'text')),
)
const workspace = prepare((p: { id: number }, db) =>
  db.selectFrom('workspaces').select('name').where('id', '=', p.id),
)

/** The names that visitors read: of the workspace, and of those hosts who are members. */
export async function publicNames(
  db: Db,
  workspace_id: number,
  ids: readonly string[],
): Promise<{ company: string; hosts: string[] }> {
  const [found, people] = await Promise.all([
    workspace(db, { id: workspace_id }),
    ids.length ? names(db, { workspace_id, ids: listParameter(db, ids) }) : [],
  ])
  const by_id = new Map(people.map(({ id, name }) => [id, name]))
  return { company: found[0]?.name ?? '', hosts: ids.flatMap((id) => by_id.get(id) ?? []) }
}

type Range = { workspace_id: number; calendars: unknown; from: string; to: string }
const takenWithin = prepare((p: Range, db) =>
  db
    .selectFrom('taken_times')
    .select(['calendar', 'appointment_id', 'start_at', 'end_at'])
    .where('workspace_id', '=', p.workspace_id)
    .where(isAnyOf(db, 'calendar', p.calendars, 'text'))
    .where('end_at', '>', p.from)
    .where('start_at', '<', p.to),
)

/** The times of appointments and requests in some calendars that overlap [from, to). */
export const takenTimes = (
  db: Db,
  workspace_id: number,
  calendars: readonly string[],
  { from, to }: { from: string; to: string },
) => takenWithin(db, { workspace_id, calendars: listParameter(db, calendars), from, to })

const bookingsByHost = prepare((p: { workspace_id: number; page_id: number }, db) =>
  db
    .selectFrom('appointments')
    .select(({ fn }) => ['owner_id', fn.countAll<number | string>().as('count'), fn.max('id').as('last_id')])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, booking_page_id: p.page_id }))
    // In the text, so that the planners see which index holds exactly these.
    .where('status', 'in', [sql.lit('scheduled' as const), sql.lit('requested' as const)])
    .where('deleted_at', 'is', null)
    .groupBy('owner_id'),
)

/** How many bookings of a page each host has, and the id of the last one. */
export async function countByHost(
  db: Db,
  workspace_id: number,
  page_id: number,
): Promise<Map<string | null, { count: number; last_id: number }>> {
  const rows = await bookingsByHost(db, { workspace_id, page_id })
  return new Map(
    rows.map((row) => [row.owner_id, { count: Number(row.count), last_id: Number(row.last_id) }]),
  )
}

/** Has the reminders of the coming bookings of a page looked at soon. A due reminder stays due. */
export async function lookAtReminders(
  tx: Tx,
  { workspace_id, now }: Pick<Context, 'workspace_id' | 'now'>,
  page_id: number,
): Promise<void> {
  await sql`UPDATE bookings SET remind_at = CASE WHEN remind_at < ${now} THEN remind_at ELSE ${now} END
    WHERE workspace_id = ${workspace_id} AND appointment_id IN (SELECT id FROM appointments
      WHERE workspace_id = ${workspace_id} AND booking_page_id = ${page_id} AND deleted_at IS NULL
        AND status IN ('scheduled', 'requested') AND start_at > ${now})`.execute(tx)
}
