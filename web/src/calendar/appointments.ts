import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { changeSince } from '../api/change-since.ts'
import { api, dataOf, type Schemas, type Tagged } from '../api/client.ts'
import { shownAhead } from '../api/read-again.ts'
import type { ChangesOf, RecordOf } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { inWords, showProblem } from '../app/problems.tsx'
import { staleAfter } from '../record/kinds.ts'
import { askWhose } from '../record/page/conflicts.ts'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo, showMessage } from '../ui/undo.tsx'
import { appointments, appointmentsApi } from './kind.ts'

/** An appointment as in lists, which omit long notes. Some lists have the name of its contact. */
export type Appointment = Schemas['AppointmentOfList']
export type Times = Pick<Appointment, 'start_at' | 'end_at'>
type Range = { from: string; to: string }
type Shown = { appointments: Appointment[]; more: boolean }

export const isCancelled = ({ status }: Pick<Appointment, 'status'>): boolean =>
  status === 'cancelled' || status === 'declined'

const hour_ms = 3_600_000

/** Whether it has room for several lines among the hours. */
export const isLong = ({ start_at, end_at }: Times): boolean =>
  Date.parse(end_at) - Date.parse(start_at) >= hour_ms

/** The classes of an appointment in the calendar. */
export function classOf({ id, status, ...times }: Appointment): string {
  return [
    `calendar-event calendar-event-${id}`,
    status === 'requested' && 'calendar-requested',
    isCancelled({ status }) && 'calendar-cancelled',
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

/** The appointments within a range, ordered by start. */
export const rangeQuery = (range: Range, filters: Record<string, string>) =>
  queryOptions({
    queryKey: ['appointments', 'range', range, filters],
    queryFn: async ({ signal }): Promise<Shown> => {
      const query = { ...queryOf(range, filters), details: 'true' as const, per_page }
      const found: Appointment[] = []
      for (let cursor = 'start'; ; ) {
        const { data, meta } = await appointmentsApi.list({ ...query, cursor }, signal)
        found.push(...data)
        if (!meta.next_cursor) return { appointments: found, more: false }
        if (found.length >= most_shown) return { appointments: found, more: true }
        cursor = meta.next_cursor
      }
    },
  })

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
    const { title } = appointment
    const base = appointment as RecordOf<'appointments'> & Tagged
    const changing = changeSince('appointments', base, changes, askWhose)
    const stored = await inWords(changing, t.calendar.taken({ title }))
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
      const now = formats.moment(times.start_at)
      offerUndo(t, t.calendar.moved({ title, when: now }), async () => {
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
