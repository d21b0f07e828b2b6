import { CalendarIcon } from '@primer/octicons-react'
import { allOf } from '../api/all.ts'
import { recordApi } from '../api/record-api.ts'
import { includesText } from '../app/plain-text.ts'
import type { Kind } from '../record/kinds.ts'
import { visible } from '../ui/visible.ts'

export const appointmentsApi = recordApi('appointments')

export const appointments = {
  kind: 'appointments',
  noun: 'appointment',
  path: '/calendar',
  icon: CalendarIcon,
  keys: 'g k',
  owned: true,
  events: ['appointment.created', 'appointment.updated', 'appointment.cancelled'],
  stale: ['booking_pages'],
  nameOf: ({ title }) => visible(title),
  lines: ({ start_at, status, location }, t, formats) => [
    formats.moment(start_at),
    location,
    status !== 'scheduled' && t.record[status],
  ],
  timelineEntry: ({ start_at, status, location }, t, formats) => ({
    label: t.record.appointment_made,
    state: status === 'scheduled' ? null : t.record[status],
    planned: Date.parse(start_at) > Date.now() && (status === 'scheduled' || status === 'requested'),
    facts: [[formats.moment(start_at), location].filter(Boolean).join(', ')],
  }),
  found: (start_at, _, formats) => formats.moment(start_at),
  list: async () => (await import('./calendar-page.tsx')).CalendarPage,
  record: async () => (await import('./appointment-record.tsx')).AppointmentRecord,
  related: {
    to: ['contacts', 'deals'],
    header: ['contacts', 'deals'],
    sort: '-start_at',
    load: async () => (await import('./related.tsx')).related,
  },
} as const satisfies Kind<'appointments'>

export const bookingPagesApi = recordApi('booking_pages')

export const booking_pages = {
  kind: 'booking_pages',
  noun: 'booking_page',
  path: '/booking-pages',
  icon: CalendarIcon,
  owned: false,
  events: [],
  stale: ['appointments'],
  nameOf: ({ title }) => visible(title),
  labels: ({ booking, calendar }) =>
    booking && {
      ...booking,
      hosts: calendar.hosts,
      availability: booking.week,
      date_overrides: booking.overrides,
    },
  lines: ({ slug, duration_minutes, active }, t) => [
    `/book/${slug}`,
    t.calendar.minutes({ n: duration_minutes }),
    active ? null : t.calendar.inactive,
  ],
  found: null,
  // The API has no search of booking pages; a workspace has few.
  async search(words, _, __, signal) {
    const pages = await allOf((query) => bookingPagesApi.list(query, signal))
    return pages
      .filter(({ title, slug }) => includesText(`${title} ${slug}`, words))
      .map(({ id, title, slug }) => ({ id, name: title, detail: slug }))
  },
  list: async () => (await import('./booking-pages.tsx')).BookingPagesPage,
  record: async () => (await import('./booking-page.tsx')).BookingPageRecord,
} as const satisfies Kind<'booking_pages'>
