import { createHash, hash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { day_ms, isoTime } from '../clock.ts'
import { type Db, engineOf } from '../db/tx.ts'
import {
  type CalendarEvent,
  calendar_statuses,
  calendarEnd,
  calendarHead,
  eventLines,
  foldedLines,
  todoLines,
} from '../icalendar/event.ts'
import { uidOfAppointment } from '../resources/appointments/bookings.ts'
import type { OpenFeed } from './queries.ts'

const past_days = 90
const ahead_days = 2 * 366
/** How long cancelled appointments and completed activities stay. */
const ended_days = 30
const max_entries = 5000
// Entries that are written between two turns of the event loop.
const at_once = 200
// Part of the entity tag. Raise it with a change of what is written.
const version = 1

/** The kinds of records that a reader may see. */
export type MayRead = (kind: 'appointments' | 'activities' | 'contacts') => boolean

type Appointment = [
  kind: 'appointment',
  id: number,
  start: string,
  end: string,
  status: keyof typeof calendar_statuses,
  uid: string | null,
  sequence: number,
  created: string,
  updated: string,
  title: string | null,
  location: string | null,
  contact: string | null,
]
type Activity = [
  kind: 'activity',
  id: number,
  due: string,
  completed: string | null,
  created: string,
  updated: string,
  subject: string,
  contact: string | null,
]

/** The content of a feed before it is written: text of JSON, so that its hash tells whether anything has changed. */
export type Source = { etag: string; items: string }

/** Reads the content of a feed: the nearest 5,000 entries, in the order of their times. */
export async function readSource(
  db: Db,
  feed: OpenFeed,
  mayRead: MayRead,
  base: string,
  now_ms: number,
): Promise<Source> {
  const at = (days: number) => isoTime(now_ms + days * day_ms)
  const [from, to, ended, now] = [at(-past_days), at(ahead_days), at(-ended_days), isoTime(now_ms)]
  const is_sqlite = engineOf(db) === 'sqlite'
  const json = (values: readonly unknown[]) =>
    is_sqlite
      ? sql`json_array(${sql.join(values)})`
      : sql`CAST(json_build_array(${sql.join(values)}) AS text)`
  // To the second, as they are written.
  const second = (column: string) => sql`substr(${sql.ref(column)}, 1, 19)`
  const is_full = feed.details === 'full'
  const shown = (value: unknown) => (is_full ? value : sql`CAST(NULL AS text)`)
  const contact =
    mayRead('contacts') && is_full
      ? sql`CASE WHEN c.id IS NULL THEN NULL ELSE c.first_name || ' ' || c.last_name END`
      : sql`CAST(NULL AS text)`
  const appointment = [
    sql.lit('appointment'),
    sql.ref('a.id'),
    ...['a.start_at', 'a.end_at'].map(second),
    sql.ref('a.status'),
    sql.ref('b.uid'),
    sql`coalesce(b.sequence, 0)`,
    ...['a.created_at', 'a.updated_at'].map(second),
    ...['a.title', 'a.location'].map((column) => shown(sql.ref(column))),
    contact,
  ]
  const activity = [
    sql.lit('activity'),
    sql.ref('t.id'),
    ...['t.due_at', 't.completed_at', 't.created_at', 't.updated_at'].map(second),
    sql.ref('t.subject'),
    contact,
  ]
  const { workspace_id, user_id } = feed
  // The times that the person owns or hosts, and lately did.
  const of_appointments = sql`SELECT start_at AS at, 0 AS kind, appointment_id AS id FROM taken_times
      WHERE workspace_id = ${workspace_id} AND calendar = ${user_id} AND start_at < ${to} AND end_at > ${from}
    UNION ALL SELECT start_at, 0, id FROM appointments
      WHERE workspace_id = ${workspace_id} AND status IN ('cancelled', 'declined') AND deleted_at IS NULL
        AND updated_at > ${ended} AND start_at < ${to} AND end_at > ${from}
        AND (owner_id = ${user_id} OR host_ids LIKE ${`%"${user_id}"%`})`
  const of_activities = sql`SELECT due_at AS at, 1 AS kind, id FROM activities
    WHERE workspace_id = ${workspace_id} AND owner_id = ${user_id} AND deleted_at IS NULL
      AND due_at < ${to} AND due_at > ${from} AND (completed_at IS NULL OR completed_at > ${ended})`
  const parts = [
    ...(mayRead('appointments') ? [of_appointments] : []),
    ...(mayRead('activities') && is_full && feed.activities !== 'none' ? [of_activities] : []),
  ]
  const found = sql`SELECT * FROM (${sql.join(parts, sql` UNION ALL `)}) AS found`
  const entries: Entries = (chosen) => sql`
    SELECT e.at, e.kind, e.id, CASE e.kind WHEN 0 THEN ${json(appointment)} ELSE ${json(activity)} END AS item
    FROM (${chosen}) AS e
    LEFT JOIN appointments AS a ON e.kind = 0 AND a.workspace_id = ${workspace_id} AND a.id = e.id
    LEFT JOIN bookings AS b ON b.workspace_id = a.workspace_id AND b.appointment_id = a.id
    LEFT JOIN activities AS t ON e.kind = 1 AND t.workspace_id = ${workspace_id} AND t.id = e.id
    LEFT JOIN contacts AS c ON c.workspace_id = ${workspace_id} AND c.id = coalesce(a.contact_id, t.contact_id)
      AND c.deleted_at IS NULL`
  const items = parts.length ? await readItems(db, found, entries, now) : ''
  const { name, activities, details } = feed
  const settings = JSON.stringify([version, base, name, activities, details])
  // One text of both would be another copy.
  const digest = createHash('sha256').update(`${settings}\n`).update(items).digest('hex')
  return { items, etag: `"${digest.slice(0, 32)}"` }
}

/** The entries of chosen ids, in their order. */
type Entries = (chosen: RawBuilder<unknown>) => RawBuilder<unknown>

async function readItems(db: Db, found: RawBuilder<unknown>, entries: Entries, now: string): Promise<string> {
  const is_sqlite = engineOf(db) === 'sqlite'
  const by_time = sql`ORDER BY at, kind, id`
  // Without the +, SQLite would read all appointments by their start, for those that were cancelled.
  const chosen_by_time = is_sqlite ? sql`ORDER BY +at, kind, id` : by_time
  const read = async (chosen: RawBuilder<unknown>) => {
    // A sort of whole entries would take half of the time. On SQLite, joins and the aggregate keep the order of what is chosen.
    const { rows } = await sql<{ items: string | null; n: number }>`
      SELECT string_agg(item, ','${is_sqlite ? sql`` : sql` ${by_time}`}) AS items, count(*) AS n
      FROM (${entries(sql`${chosen} ${chosen_by_time} LIMIT ${max_entries + 1}`)}) AS entries`.execute(db)
    return { items: rows[0]?.items ?? '', n: Number(rows[0]?.n) }
  }
  const { items, n } = await read(found)
  if (n <= max_entries) return items
  const distance = is_sqlite
    ? sql`abs(unixepoch(at) - unixepoch(${now}))`
    : sql`abs(extract(epoch FROM CAST(at AS timestamptz) - CAST(${now} AS timestamptz)))`
  const nearest = sql`${found} ORDER BY ${distance}, kind, id LIMIT ${max_entries}`
  return (await read(sql`SELECT * FROM (${nearest}) AS nearest`)).items
}

/** Writes a feed. Long ones in steps, so that other requests go on. */
export async function writeFeed(
  { workspace_id, name, activities, details }: OpenFeed,
  { items }: Source,
  base: string,
): Promise<string> {
  const entries = JSON.parse(`[${items}]`) as (Appointment | Activity)[]
  const parts = [foldedLines(calendarHead(name))]
  for (const [n, entry] of entries.entries()) {
    if (n % at_once === at_once - 1) await turn()
    const lines =
      entry[0] === 'appointment'
        ? eventLines(eventOf(workspace_id, entry, details, base))
        : activityLines(workspace_id, entry, activities, base)
    parts.push(foldedLines(lines))
  }
  parts.push(foldedLines(calendarEnd))
  return parts.join('')
}

function eventOf(
  workspace_id: number,
  [, id, start, end, status, uid, sequence, created, updated, title, location, contact]: Appointment,
  details: OpenFeed['details'],
  base: string,
): CalendarEvent {
  const is_full = details === 'full'
  const url = is_full ? `${base}/calendar/${id}` : ''
  return {
    uid: uid ?? uidOfAppointment(workspace_id, id),
    sequence,
    title: is_full ? (title ?? '') : 'Busy',
    start_at: `${start}Z`,
    end_at: `${end}Z`,
    location,
    description: [contact, url].filter(Boolean).join('\n'),
    url,
    status: calendar_statuses[status],
    created_at: `${created}Z`,
    updated_at: `${updated}Z`,
  }
}

const activity_minutes = 30

function activityLines(
  workspace_id: number,
  [, id, due, completed, created, updated, subject, contact]: Activity,
  as: OpenFeed['activities'],
  base: string,
): string {
  const url = `${base}/activities/${id}`
  const shared = {
    uid: `${hash('sha256', `activity ${workspace_id} ${id}`).slice(0, 32)}@rapport`,
    sequence: 0,
    title: subject,
    description: [contact, url].filter(Boolean).join('\n'),
    url,
    created_at: `${created}Z`,
    updated_at: `${updated}Z`,
  }
  if (as === 'todo')
    return todoLines({ ...shared, due_at: `${due}Z`, completed_at: completed && `${completed}Z` })
  const end_at = isoTime(Date.parse(`${due}Z`) + activity_minutes * 60_000)
  const event = { ...shared, start_at: `${due}Z`, end_at, location: null, status: 'CONFIRMED' as const }
  return eventLines({ ...event, transparent: true })
}
