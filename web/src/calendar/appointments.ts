import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../api/client.ts'
import { shownAhead } from '../api/read-again.ts'
import type { ChangesOf } from '../api/record-api.ts'
import { useFormats } from '../app/formats.ts'
import { inWords, tellProblem } from '../app/problems.tsx'
import { staleAfter } from '../record/kinds.ts'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/texts.ts'
import { offerUndo, tell } from '../ui/undo.tsx'
import { appointments, appointmentsApi } from './kind.ts'

/** As the list shows it: long notes come with the record itself alone. */
export type Appointment = Schemas['ListedAppointment']
export type Times = Pick<Appointment, 'start_at' | 'end_at'>
type Range = { from: string; to: string }
type Shown = { appointments: Appointment[]; more: boolean }

const per_page = 100
/** How many appointments the calendar shows at most. */
export const most_shown = 1000
/** The appointments that take place in the shown time, in the order of their starts. */
export const rangeQuery = (range: Range | null, filters: Record<string, string>) =>
  queryOptions({
    queryKey: ['appointments', 'range', range, filters],
    enabled: range !== null,
    queryFn: async (): Promise<Shown> => {
      const { from, to } = range as Range
      // What ends as the time begins, or begins as it ends, is not in it.
      const end_from = new Date(Date.parse(from) + 1).toISOString()
      const start_to = new Date(Date.parse(to) - 1).toISOString()
      const query = { ...filters, end_from, start_to, sort: 'start_at' as const, per_page }
      const found: Appointment[] = []
      for (let cursor = ''; ; ) {
        const { data, meta } = await appointmentsApi.list({ ...query, cursor })
        found.push(...data)
        if (!meta.next_cursor) return { appointments: found, more: false }
        if (found.length >= most_shown) return { appointments: found, more: true }
        cursor = meta.next_cursor
      }
    },
  })

const byId = (id: number) => ({ params: { path: { id } } })

/** What can be done with an appointment from anywhere. */
export function useAppointmentActions() {
  const t = useTexts()
  const formats = useFormats()
  const client = useQueryClient()
  const refresh = useRefreshAfter('appointments')
  /** Shows an appointment as it will be, or as it was, everywhere. */
  function show(appointment: Appointment) {
    const changed = (one: Appointment) => (one.id === appointment.id ? appointment : one)
    client.setQueriesData<Shown>(
      { queryKey: ['appointments', 'range'] },
      (shown) => shown && { ...shown, appointments: shown.appointments.map(changed) },
    )
    client.setQueryData<Appointment>(
      appointmentsApi.query(appointment.id).queryKey,
      (one) => one && { ...one, ...appointment },
    )
  }
  async function store({ id, title }: Appointment, body: ChangesOf<'appointments'>) {
    show(await inWords(appointmentsApi.change(id, body), t.calendar.taken(title)))
  }
  /** Moves it where it was dropped; back when the service refuses, with the reason in words. */
  async function move(appointment: Appointment, times: Times): Promise<boolean> {
    await client.cancelQueries({ queryKey: ['appointments'] })
    show({ ...appointment, ...times })
    try {
      await shownAhead(staleAfter(appointments), () => store(appointment, times))
      return true
    } catch (error) {
      show(appointment)
      tellProblem(error, t)
      return false
    } finally {
      refresh()
    }
  }

  return {
    refresh,
    async store(appointment: Appointment, changes: ChangesOf<'appointments'>) {
      await store(appointment, changes)
      await refresh()
    },
    async move(appointment: Appointment, times: Times) {
      const { title, start_at, end_at } = appointment
      if (!(await move(appointment, times))) return
      const now = formats.moment(times.start_at)
      offerUndo(t, t.calendar.moved(title, now), async () => {
        if (await move({ ...appointment, ...times }, { start_at, end_at })) tell(t.calendar.move_back(title))
      })
    },
    async cancel({ id, title }: Appointment, reason: string | null) {
      show(await dataOf(api.POST('/api/v1/appointments/{id}/cancel', { ...byId(id), body: { reason } })))
      tell(t.calendar.cancelled(title))
      await refresh()
    },
    async accept({ id, title }: Appointment) {
      show(await dataOf(api.POST('/api/v1/appointments/{id}/accept', { ...byId(id), body: {} })))
      tell(t.calendar.accepted(title))
      await refresh()
    },
    async decline({ id, title }: Appointment, reason: string | null) {
      show(await dataOf(api.POST('/api/v1/appointments/{id}/decline', { ...byId(id), body: { reason } })))
      tell(t.calendar.declined(title))
      await refresh()
    },
  }
}
