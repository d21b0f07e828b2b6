import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type Clock, momentOf, shownTime } from '../clock.ts'
import type { BusyTables } from './busy-tables.ts'
import { transaction } from './db.ts'
import { jsonOf } from './statements/json-text.ts'
import { prepare } from './statements/prepare.ts'
import { isAnyOf, listParameter } from './statements/recordset.ts'
import type { Db, Tx } from './tx.ts'

// Statements of busy calendars for other rooms: the times of a host, and the removal with a member.

export type CalendarRow = Selectable<BusyTables['busy_calendars']>
/** Whose calendars: a person has some in each workspace. */
export type Owner = { workspace_id: number; user_id: string }

/** Whether a calendar was never read, or not in time. */
export const isStale = ({ last_read_ms, stale_after_minutes }: CalendarRow, elapsed_ms: number): boolean =>
  last_read_ms === null || elapsed_ms - Number(last_read_ms) > Number(stale_after_minutes) * 60_000

/** Makes every calendar that is polled due now. Call it only at the start of the only process on a database. */
export const reclaimCalendars = (tx: Tx, elapsed_ms: number) =>
  sql`UPDATE busy_calendars SET claim_id = NULL, run_at_ms = ${elapsed_ms} WHERE claim_id IS NOT NULL`.execute(
    tx,
  )

/** Makes the calendars of a person due, to be read whole: their times depend on the person's zone and e-mail. */
export async function readWhole(tx: Tx, user_id: string, elapsed_ms: number): Promise<void> {
  await tx
    .updateTable('busy_calendars')
    // A poll that runs has the old values: without its claim it writes nothing.
    .set({ etag: null, last_modified: null, run_at_ms: elapsed_ms, claim_id: null })
    .where('user_id', '=', user_id)
    // By the index of workspaces and people.
    .where('workspace_id', 'in', (eb) =>
      eb.selectFrom('memberships').select('workspace_id').where('user_id', '=', user_id),
    )
    .execute()
  tx.announce('busy')
}

export async function removeCalendar(tx: Tx, workspace_id: number, id: string): Promise<void> {
  const key = (column: 'id' | 'calendar_id') =>
    sql`workspace_id = ${workspace_id} AND ${sql.ref(column)} = ${id}`
  await sql`DELETE FROM busy_calendars WHERE ${key('id')}`.execute(tx)
  await sql`DELETE FROM busy_periods WHERE ${key('calendar_id')}`.execute(tx)
}

/** Removes the calendars of a person in a workspace. */
export async function removeBusyCalendars(tx: Tx, workspace_id: number, user_id: string): Promise<void> {
  const calendars = tx
    .selectFrom('busy_calendars')
    .select('id')
    .where((eb) => eb.and({ workspace_id, user_id }))
  for (const { id } of await calendars.execute()) await removeCalendar(tx, workspace_id, id)
}

/** A time of a calendar at which a person is busy. ISO 8601 UTC with milliseconds. */
export type BusyTime = { user_id: string; calendar_id: string; start_at: string; end_at: string }

type Range = { from: string; to: string }
// A row for each calendar, not for each time: there are thousands.
const overlapping = prepare(
  (p: { workspace_id: number; people: unknown } & Range, db) => sql<
    Pick<BusyTime, 'user_id' | 'calendar_id'> & { times: string | null }
  >`
    SELECT c.user_id, c.id AS calendar_id, (SELECT string_agg(p.start_at || p.end_at, '') FROM busy_periods AS p
      WHERE p.workspace_id = c.workspace_id AND p.calendar_id = c.id AND p.generation = c.generation
        AND p.start_at < ${p.to} AND p.end_at > ${p.from}
        AND p.start_at >= coalesce((SELECT max(e.start_at) FROM busy_periods AS e
          WHERE e.workspace_id = c.workspace_id AND e.calendar_id = c.id AND e.generation = c.generation
            AND e.start_at <= ${p.from}), '')) AS times
    FROM busy_calendars AS c
    WHERE c.workspace_id = ${p.workspace_id} AND ${isAnyOf(db, 'c.user_id', p.people, 'text')}`,
)
const time_length = '2026-01-01T00:00:00.000Z'.length

/** The times between two moments at which the calendars of people say that they are busy. In no order. */
export async function busyTimesOf(
  db: Db,
  workspace_id: number,
  people: readonly string[],
  range: Range,
): Promise<BusyTime[]> {
  if (!people.length) return []
  const found: BusyTime[] = []
  const rows = await overlapping(db, { workspace_id, people: listParameter(db, people), ...range })
  for (const { user_id, calendar_id, times } of rows)
    for (let at = 0; times && at < times.length; at += 2 * time_length) {
      const [start_at, end_at] = [at, at + time_length].map((from) => times.slice(from, from + time_length))
      found.push({ user_id, calendar_id, start_at: String(start_at), end_at: String(end_at) })
    }
  return found
}

const stale = prepare(
  (p: { workspace_id: number; people: unknown }, db) => sql<{ user_id: string; id: string }>`
    SELECT user_id, id FROM busy_calendars WHERE workspace_id = ${p.workspace_id}
      AND ${isAnyOf(db, 'user_id', p.people, 'text')} AND stale_since IS NOT NULL ORDER BY stale_since DESC`,
)

/** For each of the people who has a stale calendar: the one that is stale longest. */
export async function staleCalendarsOf(
  db: Db,
  workspace_id: number,
  people: readonly string[],
): Promise<Map<string, string>> {
  const found = people.length ? await stale(db, { workspace_id, people: listParameter(db, people) }) : []
  return new Map(found.map(({ user_id, id }) => [user_id, id]))
}

/** The JSON text of since when the first calendar of a person is stale; null: all are fresh. */
export const staleSince = (db: Db, workspace_id: RawBuilder<unknown>, user_id: RawBuilder<unknown>) =>
  jsonOf(
    db,
    sql`(SELECT min(c.stale_since) FROM busy_calendars AS c
      WHERE c.workspace_id = ${workspace_id} AND c.user_id = ${user_id})`,
  )

/** Marks calendars that were not read in time. */
export async function markStale(db: Db, clock: Clock): Promise<void> {
  const moment = momentOf(clock)
  const late = await sql<{
    workspace_id: number
    id: string
    last_read_ms: number
    stale_after_minutes: number
  }>`
    SELECT workspace_id, id, last_read_ms, stale_after_minutes FROM busy_calendars
    WHERE stale_since IS NULL AND last_read_ms + stale_after_minutes * 60000 < ${moment.elapsed_ms} LIMIT 1000`.execute(
    db,
  )
  for (const { workspace_id, id, last_read_ms, stale_after_minutes } of late.rows) {
    const at = shownTime(Number(last_read_ms) + Number(stale_after_minutes) * 60_000, moment)
    // A poll may have read it meanwhile, and its person may have allowed more time.
    await transaction(db, (tx) =>
      sql`UPDATE busy_calendars SET stale_since = ${at} WHERE workspace_id = ${workspace_id} AND id = ${id}
        AND last_read_ms = ${last_read_ms} AND stale_after_minutes = ${stale_after_minutes}`.execute(tx),
    )
  }
}
