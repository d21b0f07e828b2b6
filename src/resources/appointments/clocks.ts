import { sql } from 'kysely'
import { isoTime } from '../../clock.ts'
import type { Db } from '../../db/db.ts'
import { prepareById } from '../../db/statements/bulk.ts'
import { prepare } from '../../db/statements/prepare.ts'
import type { Context } from '../../events/context.ts'
import { offsetAt, timesAt } from '../../zones/wall.ts'
import type { AppointmentFields, ClockChange } from './schema.ts'

// People agree on an appointment by a wall clock. Its row has the zone of this clock and the offset at its start. When the
// rules of the zone change, the appointments that lie ahead show another time of day.

const minute_ms = 60_000

/** The wall clock of an appointment; nulls if its zone is not known. */
export type WallClock = { time_zone: string | null; utc_offset_minutes: number | null }

/** The wall clock of a zone at the start of an appointment. */
export const clockAt = (time_zone: string | null, start_at: string): WallClock => ({
  time_zone,
  utc_offset_minutes: time_zone === null ? null : offsetInMinutes(Date.parse(start_at), time_zone),
})

const offsetInMinutes = (at_ms: number, zone: string) => Math.round(offsetAt(at_ms, zone) / minute_ms)

type Key<Id> = { workspace_id: number; id: Id }
type Zoned = { time_zone: string | null }
const pageZone = prepareById<Key<number>, Zoned & { id: number }>((is, p, db) =>
  db
    .selectFrom('booking_pages')
    .select(['id', 'time_zone'])
    .where('workspace_id', '=', p.workspace_id)
    .where(is('id')),
)
const userZone = prepareById<Key<string>, Zoned & { id: string }>(
  (is, _, db) => db.selectFrom('users').select(['id', 'time_zone']).where(is('id')),
  { type: 'text' },
)

type Fields = Partial<Pick<AppointmentFields, 'booking_page_id' | 'owner_id'>>

/** The zone of an appointment: that of its booking page, else of its owner, who is the author by default; or null. */
export async function zoneOfFields(
  db: Db,
  { workspace_id, actor }: Pick<Context, 'workspace_id' | 'actor'>,
  { booking_page_id, owner_id }: Fields,
): Promise<string | null> {
  // The body may be invalid: PostgreSQL refuses a larger number.
  if (Number.isSafeInteger(booking_page_id)) {
    const page = await pageZone(db, { workspace_id, id: booking_page_id as number })
    if (page) return page.time_zone
  }
  const id = owner_id === undefined && actor.kind === 'person' ? actor.id : owner_id
  if (typeof id !== 'string' || id.includes('\0')) return null
  return (await userZone(db, { workspace_id, id }))?.time_zone ?? null
}

type Row = { id: number; title: string; start_at: string; end_at: string } & WallClock

const columns = ['id', 'title', 'start_at', 'end_at', 'time_zone', 'utc_offset_minutes'] as const
type Ahead = { workspace_id: number; now: string }
/** Live appointments that have not begun, with a wall clock. */
const liveAhead = (p: Ahead, db: Db) =>
  db
    .selectFrom('appointments')
    .select(columns)
    .where('workspace_id', '=', p.workspace_id)
    .where('deleted_at', 'is', null)
    .where('status', 'in', [sql.lit('scheduled' as const), sql.lit('requested' as const)])
    .where('time_zone', 'is not', null)
    .where('start_at', '>', p.now)
const byId = prepare((p: Ahead & { id: number }, db) => liveAhead(p, db).where('id', '=', p.id))
/** A list of changed clocks looks at this many appointments, the nearest ones. */
export const max_ahead = 10_000
const ahead = prepare((p: Ahead, db) => liveAhead(p, db).orderBy('start_at').limit(max_ahead))

/**
 * The appointments that lie ahead and whose wall clock has changed. They are in an order in which each can be moved to its
 * kept times: those that move to an earlier time first, and the last one first among those that move to a later time.
 */
export async function clockChanges(db: Db, workspace_id: number, now: string): Promise<ClockChange[]> {
  const changes = (await ahead(db, { workspace_id, now })).flatMap((row) => changeOf(row) ?? [])
  const isEarlier = ({ start_at, kept_start_at }: ClockChange) => kept_start_at < start_at
  return [...changes.filter(isEarlier), ...changes.filter((change) => !isEarlier(change)).reverse()]
}

/**
 * The times of an appointment that keep its wall clock, with the stored offset of this clock; null if the
 * clock has not changed, or the list leaves it out.
 */
export async function findClockChange(
  db: Db,
  { workspace_id, now }: Pick<Context, 'workspace_id' | 'now'>,
  id: number,
): Promise<(ClockChange & WallClock) | null> {
  const [row] = await byId(db, { workspace_id, now, id })
  const change = row && changeOf(row)
  return change ? { ...row, ...change } : null
}

function changeOf({ time_zone, utc_offset_minutes, ...row }: Row): ClockChange | null {
  if (time_zone === null || utc_offset_minutes === null) return null
  const [start_ms, end_ms] = [Date.parse(row.start_at), Date.parse(row.end_at)]
  const minutes = offsetInMinutes(start_ms, time_zone)
  if (minutes === utc_offset_minutes) return null
  const wall_ms = start_ms + utc_offset_minutes * minute_ms
  // A time that the clock now skips is the one after the skipped hour.
  const [kept_ms = wall_ms - minutes * minute_ms] = timesAt(wall_ms, time_zone)
  if (kept_ms === start_ms) return null
  return {
    ...row,
    time_zone,
    kept_start_at: isoTime(kept_ms),
    kept_end_at: isoTime(end_ms + kept_ms - start_ms),
  }
}
