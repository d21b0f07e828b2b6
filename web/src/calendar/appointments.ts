import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { activitiesApi } from '../activities/kind.tsx'
import type { ListedActivity } from '../activities/queries.ts'
import { changeSince } from '../api/change-since.ts'
import { api, dataOf, type Schemas, type Tagged } from '../api/client.ts'
import { shownAhead } from '../api/read-again.ts'
import type { ChangesOf, RecordOf } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { showProblem } from '../app/problems.tsx'
import { instantOf, wallOf } from '../app/zones.ts'
import { staleAfter } from '../record/kinds.ts'
import { askWhose } from '../record/page/conflicts.ts'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo, showMessage } from '../ui/undo.tsx'
import { appointments, appointmentsApi } from './kind.ts'

/** An appointment as in lists, which omit long notes. Some lists have the name of its contact. */
export type Appointment = Schemas['AppointmentOfList']
export type Times = Pick<Appointment, 'start_at' | 'end_at'>
/** An entry of the calendar. An activity is drawn as half an hour from the time when it is due. */
export type Entered = Pick<Appointment, 'id' | 'title' | 'status' | 'owner_id' | 'contact'> &
  Times & { activity?: ListedActivity }
type Range = { from: string; to: string }
type Shown = { appointments: Appointment[]; more: boolean }

export const isCancelled = ({ status }: Pick<Appointment, 'status'>): boolean =>
  status === 'cancelled' || status === 'declined'

const hour_ms = 3_600_000

/** Whether it has room for several lines among the hours. */
export const isLong = ({ start_at, end_at }: Times): boolean =>
  Date.parse(end_at) - Date.parse(start_at) >= hour_ms

type Formats = ReturnType<typeof useFormats>

/** The start and the end, the end without its day if it is the same. */
export function spanOf(formats: Formats, { start_at, end_at }: Times): string {
  const same_day = formats.day(start_at) === formats.day(end_at)
  return `${formats.moment(start_at)}–${same_day ? formats.time(end_at) : formats.moment(end_at)}`
}

/** The key of an entry: an activity may have the id of an appointment. */
export const keyOf = ({ id, activity }: Entered): string => `${activity ? 'activity' : 'appointment'} ${id}`

export const byStart = (one: Times, other: Times): number => one.start_at.localeCompare(other.start_at)

const day_ms = 24 * hour_ms

/** The local time of an instant, in milliseconds as if it were UTC: a day has 24 hours. */
export const wallMs = (iso: string, zone: string): number => Date.parse(`${wallOf(iso, zone)}Z`)
export const instantAt = (wall_ms: number, zone: string): string =>
  instantOf(new Date(wall_ms).toISOString().slice(0, 16), zone)

/** Whether it takes a day or more on the wall clock: then it is above the hours. */
export const isWhole = ({ start_at, end_at }: Times, zone: string): boolean =>
  wallMs(end_at, zone) - wallMs(start_at, zone) >= day_ms

/**
 * The times with another start, in milliseconds of wallMs. Days stay days where the clock changes; hours keep their length. In some
 * zones, a day begins at 1:00 then: so the start is not read from its instant.
 */
export function movedTo(start_ms: number, times: Times, zone: string): Times {
  const start_at = instantAt(start_ms, zone)
  if (isWhole(times, zone)) {
    const wall_ms = wallMs(times.end_at, zone) - wallMs(times.start_at, zone)
    return { start_at, end_at: instantAt(start_ms + wall_ms, zone) }
  }
  const length_ms = Date.parse(times.end_at) - Date.parse(times.start_at)
  return { start_at, end_at: new Date(Date.parse(start_at) + length_ms).toISOString() }
}

/** The classes of an entry of the calendar. */
export function classOf({ id, status, activity, ...times }: Entered): string {
  return [
    activity ? `calendar-activity calendar-activity-${id}` : `calendar-event calendar-event-${id}`,
    status === 'requested' && 'calendar-requested',
    (isCancelled({ status }) || activity?.completed_at) && 'calendar-cancelled',
    Date.parse(times.end_at) <= Date.now() && !(activity && !activity.completed_at) && 'calendar-past',
    isLong(times) && 'calendar-long',
  ]
    .filter(Boolean)
    .join(' ')
}

const per_page = 100
/** The maximum number of appointments in the calendar. */
export const most_shown = 1000
/** The filters and the order of a range, for the API. */
export function queryOf({ from, to }: Range, filters: Record<string, string>) {
  // Appointments that only touch the range are not in it.
  const end_from = new Date(Date.parse(from) + 1).toISOString()
  const start_to = new Date(Date.parse(to) - 1).toISOString()
  return { ...filters, end_from, start_to, sort: 'start_at' as const }
}

type Page<Row> = { data: Row[]; meta: { next_cursor?: string | null } }

/** Reads the pages of a range, up to the maximum. */
async function pagesOf<Row>(read: (cursor: string) => Promise<Page<Row>>) {
  const found: Row[] = []
  for (let cursor = 'start'; ; ) {
    const { data, meta } = await read(cursor)
    found.push(...data)
    if (!meta.next_cursor) return { found, more: false }
    if (found.length >= most_shown) return { found, more: true }
    cursor = meta.next_cursor
  }
}

/** The appointments within a range, ordered by start. */
export const rangeQuery = (range: Range, filters: Record<string, string>) =>
  queryOptions({
    queryKey: ['appointments', 'range', range, filters],
    queryFn: async ({ signal }): Promise<Shown> => {
      const query = { ...queryOf(range, filters), details: 'true' as const, per_page }
      const { found, more } = await pagesOf((cursor) => appointmentsApi.list({ ...query, cursor }, signal))
      return { appointments: found, more }
    },
  })

const of_both = ['owner_id', 'contact_id', 'deal_id', 'search', 'tag']

/** Whether the filters mean the same for activities. With another one, none is drawn. */
export const areOfBoth = (filters: Record<string, string>): boolean =>
  Object.keys(filters).every((name) => of_both.includes(name))

/** The activities that are due within a range, as entries of the calendar. */
export const dueQuery = ({ from, to }: Range, filters: Record<string, string>) => {
  const due = { due_from: from, due_to: new Date(Date.parse(to) - 1).toISOString(), sort: 'due_at' as const }
  return queryOptions({
    queryKey: ['activities', 'due', due, filters],
    queryFn: async ({ signal }) => {
      const query = { ...filters, ...due, details: 'true' as const, per_page }
      const { found, more } = await pagesOf((cursor) => activitiesApi.list({ ...query, cursor }, signal))
      return { entries: found.flatMap(entryOf), more }
    },
  })
}

const drawn_ms = hour_ms / 2

function entryOf(activity: ListedActivity): Entered[] {
  const { id, subject, due_at, owner_id, contact } = activity
  if (!due_at) return []
  const end_at = new Date(Date.parse(due_at) + drawn_ms).toISOString()
  return [{ id, title: subject, status: 'scheduled', owner_id, contact, start_at: due_at, end_at, activity }]
}

const byId = (id: number) => ({ params: { path: { id } } })

/** The actions on an appointment. */
export function useAppointmentActions() {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const refresh = useRefreshAfter('appointments')
  /** Updates an appointment in all cached lists. The answer to a change has no name of the contact. */
  function show(appointment: Appointment) {
    const changed = (one: Appointment) => (one.id === appointment.id ? { ...one, ...appointment } : one)
    client.setQueriesData<Shown>(
      { queryKey: ['appointments', 'range'] },
      (shown) => shown && { ...shown, appointments: shown.appointments.map(changed) },
    )
    client.setQueryData<Appointment>(
      appointmentsApi.query(appointment.id).queryKey,
      (one) => one && { ...one, ...appointment },
    )
  }
  async function store(appointment: Appointment & Tagged, changes: ChangesOf<'appointments'>) {
    const base = appointment as RecordOf<'appointments'> & Tagged
    const stored = await changeSince('appointments', base, changes, askWhose)
    show(stored)
    return stored
  }
  /** Moves an appointment optimistically. On an error, moves it back and shows why. False if it is elsewhere. */
  async function move(appointment: Appointment, times: Times): Promise<boolean> {
    await client.cancelQueries({ queryKey: ['appointments'] })
    show({ ...appointment, ...times })
    try {
      const stored = await shownAhead(staleAfter(appointments), () => store(appointment, times))
      return stored.start_at === times.start_at && stored.end_at === times.end_at
    } catch (error) {
      show(appointment)
      showProblem(error, t)
      return false
    } finally {
      refresh()
    }
  }

  return {
    refresh,
    async store(appointment: Appointment, changes: ChangesOf<'appointments'>) {
      const stored = await store(appointment, changes)
      await refresh()
      return stored
    },
    async move(appointment: Appointment, times: Times) {
      const { title, start_at, end_at } = appointment
      if (!(await move(appointment, times))) return
      offerUndo(t, t.calendar.moved({ title, when: spanOf(formats, times) }), async () => {
        if (await move({ ...appointment, ...times }, { start_at, end_at }))
          showMessage(t.calendar.move_back({ title }))
      })
    },
    async cancel({ id, title }: Appointment, reason: string | null) {
      show(await dataOf(api.POST('/api/v1/appointments/{id}/cancel', { ...byId(id), body: { reason } })))
      showMessage(t.calendar.cancelled({ title }))
      await refresh()
    },
    async accept({ id, title }: Appointment) {
      show(await dataOf(api.POST('/api/v1/appointments/{id}/accept', { ...byId(id), body: {} })))
      showMessage(t.calendar.accepted({ title }))
      await refresh()
    },
    async decline({ id, title }: Appointment, reason: string | null) {
      show(await dataOf(api.POST('/api/v1/appointments/{id}/decline', { ...byId(id), body: { reason } })))
      showMessage(t.calendar.declined({ title }))
      await refresh()
    },
  }
}
