import { isoTime } from '../../clock.ts'
import { busyTimesOf, staleCalendarsOf } from '../../db/busy.ts'
import type { Db, Tx } from '../../db/db.ts'
import { lockRow, lockTexts } from '../../db/locks.ts'
import { clearOf } from './availability.ts'
import { countByHost, findHosting, type Hosting, membersAmong, takenTimes } from './queries.ts'

// Which calendars are free. A page without hosts is one calendar; otherwise each host has one.

/** A time at which a calendar is taken: by an appointment of the workspace, or by an event of a calendar elsewhere. */
export type Taken = {
  start_ms: number
  end_ms: number
  appointment_id: number | null
  calendar_id: string | null
}

export type Calendar = {
  /** The person; null for the calendar of a page without hosts. */
  user_id: string | null
  /** The share of a host; null for a person who is not a host of the page. */
  weight: number | null
  taken: readonly Taken[]
  /** The stale calendar for which the person counts as busy, if the page says so. */
  stale_calendar_id: string | null
  /** Whether the person, or the page, is free from one time to another. */
  isFree(start_ms: number, end_ms: number): boolean
}

type Span = { from_ms: number; to_ms: number }
type More = {
  /** The appointment that is to be moved. Its time counts as free. */
  except_id?: number | undefined
  /** Members beside the hosts. */
  people?: readonly string[]
}

/** The calendars of a page, with what takes their times in a span. A removed member has none. */
export async function calendarsOf(
  db: Db,
  workspace_id: number,
  page: Hosting,
  { from_ms, to_ms }: Span,
  { except_id, people = [] }: More = {},
): Promise<Calendar[]> {
  const weights = new Map(page.hosts.map(({ user_id, weight }) => [user_id, weight]))
  const ids = [...new Set([...weights.keys(), ...people])]
  const members = await membersAmong(db, workspace_id, ids)
  const persons = ids.filter((id) => members.has(id))
  const names = page.hosts.length ? persons : [String(page.id), ...persons]
  const range = { from: isoTime(from_ms), to: isoTime(to_ms) }
  const [rows, elsewhere] = await Promise.all([
    names.length ? takenTimes(db, workspace_id, names, range) : [],
    timesElsewhere(db, workspace_id, persons, range),
  ])
  const taken = Map.groupBy(
    rows.filter(({ appointment_id }) => appointment_id !== except_id),
    ({ calendar }) => calendar,
  )
  return names.map((name) => {
    const of_workspace = (taken.get(name) ?? []).map(({ start_at, end_at, appointment_id }) => ({
      start_ms: Date.parse(start_at),
      end_ms: Date.parse(end_at),
      appointment_id,
      calendar_id: null,
    }))
    const { busy = [], stale_calendar_id = null } = elsewhere.get(name) ?? {}
    const all = [...of_workspace, ...busy]
    const isClear = clearOf(all)
    const stopped_by = page.stale_calendars === 'stop' ? stale_calendar_id : null
    return {
      user_id: members.has(name) ? name : null,
      weight: weights.get(name) ?? null,
      taken: all,
      stale_calendar_id: stopped_by,
      isFree: (start_ms, end_ms) => stopped_by === null && isClear(start_ms, end_ms),
    }
  })
}

/** The times of a person in calendars of other programs, and which of these calendars is stale. */
type Elsewhere = { busy: Taken[]; stale_calendar_id: string | null }

async function timesElsewhere(
  db: Db,
  workspace_id: number,
  people: readonly string[],
  range: { from: string; to: string },
): Promise<Map<string, Elsewhere>> {
  const times = await busyTimesOf(db, workspace_id, people, range)
  const stale = await staleCalendarsOf(db, workspace_id, people)
  const by_person = Map.groupBy(times, ({ user_id }) => user_id)
  return new Map(
    people.map((user_id) => {
      const busy = (by_person.get(user_id) ?? []).map(({ start_at, end_at, calendar_id }) => ({
        start_ms: Date.parse(start_at),
        end_ms: Date.parse(end_at),
        appointment_id: null,
        calendar_id,
      }))
      return [user_id, { busy, stale_calendar_id: stale.get(user_id) ?? null }]
    }),
  )
}

/** The hosts of a page who are free from one time to another, or its own calendar. */
export const freeCalendars = (calendars: readonly Calendar[], start_ms: number, end_ms: number) =>
  calendars.filter((calendar) => calendar.isFree(start_ms, end_ms))

/** Whether a page offers a time: one of its calendars is free, or all of them. */
export const isFreeFor = (
  { assignment }: Pick<Hosting, 'assignment'>,
  calendars: readonly Calendar[],
  start_ms: number,
  end_ms: number,
): boolean => {
  const isFree = (calendar: Calendar) => calendar.isFree(start_ms, end_ms)
  return assignment === 'collective' && calendars.length ? calendars.every(isFree) : calendars.some(isFree)
}

type Times = { start_at: string; end_at: string }
type Wish = {
  /** The person who must be the first host. */
  owner_id?: string | null | undefined
  /** The hosts who stay, if they are free. */
  kept?: readonly string[]
  /** The minutes that must be free before and after it, too. */
  buffer_minutes?: number
  except_id?: number
}

/**
 * The hosts who receive a visitor of a page, the owner of the appointment first. Null if those are busy who must be free. Call it
 * while holding the calendars.
 */
export async function chooseHosts(
  db: Db,
  workspace_id: number,
  page: Hosting,
  { start_at, end_at }: Times,
  { owner_id, kept = [], buffer_minutes = 0, except_id }: Wish,
): Promise<string[] | null> {
  const buffer_ms = buffer_minutes * 60_000
  const [from_ms, to_ms] = [Date.parse(start_at) - buffer_ms, Date.parse(end_at) + buffer_ms]
  const people = [...kept, ...(owner_id ? [owner_id] : [])]
  const calendars = await calendarsOf(db, workspace_id, page, { from_ms, to_ms }, { except_id, people })
  const idsOf = (found: readonly Calendar[]) => found.flatMap(({ user_id }) => user_id ?? [])
  const free = new Set(idsOf(freeCalendars(calendars, from_ms, to_ms)))
  const ifFree = (ids: readonly string[]) => (ids.length && ids.every((id) => free.has(id)) ? [...ids] : null)
  const hosts = idsOf(calendars.filter(({ weight }) => weight !== null))
  const is_collective = page.assignment === 'collective'
  if (owner_id)
    return ifFree(is_collective ? [owner_id, ...hosts.filter((id) => id !== owner_id)] : [owner_id])
  const staying = ifFree(kept)
  if (staying) return staying
  if (is_collective) return ifFree(hosts)
  const candidates = hosts.filter((id) => free.has(id))
  if (candidates.length < 2) return ifFree(candidates)
  return [await leastBooked(db, workspace_id, page, candidates)]
}

/** The host with the fewest bookings for their weight; of equal ones, the one whose last booking is oldest. */
async function leastBooked(
  db: Db,
  workspace_id: number,
  { id, hosts }: Hosting,
  candidates: readonly string[],
): Promise<string> {
  const counts = await countByHost(db, workspace_id, id)
  const ranked = hosts
    .filter(({ user_id }) => candidates.includes(user_id))
    .map(({ user_id, weight }) => {
      const { count, last_id } = counts.get(user_id) ?? { count: 0, last_id: 0 }
      return { user_id, load: count / weight, last_id }
    })
    .sort((a, b) => a.load - b.load || a.last_id - b.last_id)
  return (ranked[0] as (typeof ranked)[number]).user_id
}

/**
 * Locks the times of booking pages, of their hosts and of people until the transaction ends. Other bookings wait, and then see
 * this one. The database refuses an overlap without this lock, too. But concurrent bookings of one time would wait for each
 * other's uncommitted rows, and PostgreSQL would end them as deadlocks. Take this lock after the lock of an
 * appointment, and before any other read of the page. The check of a reference takes a shared lock of the row. Two
 * holders of a shared lock would deadlock.
 */
export async function lockCalendars(
  tx: Tx,
  workspace_id: number,
  { pages = [], people = [] }: { pages?: readonly (number | null)[]; people?: readonly (string | null)[] },
): Promise<void> {
  // SQLite has one writer.
  if (tx.engine === 'sqlite') return
  const ids = [...new Set(pages.filter((id) => id !== null))].sort((a, b) => a - b)
  const names = new Set(people.filter((id) => id !== null))
  for (const id of ids) {
    await lockRow(tx, 'booking_pages', workspace_id, id)
    for (const { user_id } of (await findHosting(tx, workspace_id, id))?.hosts ?? []) names.add(user_id)
  }
  await lockTexts(tx, 'hosts', workspace_id, [...names])
}
