import { type Moment, shownTime } from '../clock.ts'
import { type CalendarRow, isStale, type Owner } from '../db/busy.ts'
import type { Db, Tx } from '../db/db.ts'
import { countRows } from '../db/lists/counts.ts'
import type { Listed } from '../db/lists/lists.ts'
import { rowLock } from '../db/locks.ts'
import type { Seal } from '../db/seal.ts'
import { hidden } from '../webhooks/registration/headers.ts'
import type { BusyCalendar } from './schema.ts'

/** A calendar as answers show it. */
export function shownCalendar(row: CalendarRow, seal: Seal, moment: Moment): BusyCalendar {
  const tried = row.last_attempt_at !== null
  return {
    id: row.id,
    name: row.name,
    url: `${new URL(seal.open(row.url)).origin}/${hidden}`,
    username: row.username,
    password: row.password === null ? null : hidden,
    time_zone: row.time_zone,
    poll_minutes: Number(row.poll_minutes),
    stale_after_minutes: Number(row.stale_after_minutes),
    status: row.error_code !== null ? 'failing' : tried ? 'ok' : 'waiting',
    last_read_at: row.last_read_at,
    last_attempt_at: row.last_attempt_at,
    next_poll_at: shownTime(Math.max(Number(row.run_at_ms), moment.elapsed_ms), moment),
    last_error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    stale: isStale(row, moment.elapsed_ms),
    busy_count: Number(row.busy_count),
    skipped: JSON.parse(row.skipped),
    skipped_count: Number(row.skipped_count),
    created_at: row.created_at,
  }
}

/** The calendar of its entity tag: without the time of the next poll, which differs by the milliseconds of the clocks. */
export const taggedCalendar = ({ next_poll_at: _, ...calendar }: BusyCalendar) => calendar

const ofOwner = (db: Db, { workspace_id, user_id }: Owner) =>
  db
    .selectFrom('busy_calendars')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, user_id }))

/** The calendar of a person; null if it is another person's, or does not exist. */
export const findCalendar = async (db: Db, owner: Owner, id: string): Promise<CalendarRow | null> =>
  (await ofOwner(db, owner).where('id', '=', id).executeTakeFirst()) ?? null

/** The same, with its row locked. */
export const lockCalendar = async (tx: Tx, owner: Owner, id: string): Promise<CalendarRow | null> =>
  (await ofOwner(tx, owner).where('id', '=', id).modifyEnd(rowLock(tx, 'FOR UPDATE')).executeTakeFirst()) ??
  null

/** A page of the calendars of a person, the oldest first. */
export async function listCalendars(
  db: Db,
  owner: Owner,
  { per_page, offset }: { per_page: number; offset: number },
): Promise<Listed<CalendarRow>> {
  const total = await countCalendars(db, owner)
  const records = await ofOwner(db, owner).orderBy('id').limit(per_page).offset(offset).execute()
  return { records, total, next: null }
}

export const countCalendars = (db: Db, { workspace_id, user_id }: Owner): Promise<number> =>
  countRows(db.selectFrom('busy_calendars').where((eb) => eb.and({ workspace_id, user_id })))
