import { CalendarIcon } from '@primer/octicons-react'
import { allOf } from '../api/all.ts'
import { recordApi } from '../api/record-api.ts'
import type { Kind } from '../record/kinds.ts'
import { visible } from '../ui/visible.ts'

export const appointmentsApi = recordApi('appointments')

export const appointments = {
  kind: 'appointments',
  noun: 'appointment',
  path: '/calendar',
  icon: CalendarIcon,
  keys: 'g k',
  names: {
    en: {
      one: 'Appointment',
      many: 'Appointments',
      page: 'Calendar',
      create: 'Create appointment',
      delete: 'Delete',
      back: 'Calendar',
      none: 'No appointments yet.',
      fields: { owner_id: 'Host' },
    },
    de: {
      one: 'Termin',
      many: 'Termine',
      page: 'Kalender',
      create: 'Termin anlegen',
      delete: 'Löschen',
      back: 'Kalender',
      none: 'Noch keine Termine.',
      fields: { owner_id: 'Gastgeber' },
    },
  },
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
    facts: [[formats.moment(start_at), location].filter(Boolean).join(', ')],
  }),
  found: (start_at, _, formats) => formats.moment(start_at),
  list: async () => (await import('./calendar-page.tsx')).CalendarPage,
  record: async () => (await import('./appointment-record.tsx')).AppointmentRecord,
  related: {
    to: ['contacts'],
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
  names: {
    en: {
      one: 'Booking page',
      many: 'Booking pages',
      create: 'Create booking page',
      delete: 'Delete',
      back: 'Booking pages',
      none: 'Let people book a time with you: create a page that offers your free times.',
    },
    de: {
      one: 'Buchungsseite',
      many: 'Buchungsseiten',
      create: 'Buchungsseite anlegen',
      delete: 'Löschen',
      back: 'Buchungsseiten',
      none: 'Lassen Sie andere einen Termin buchen: Legen Sie eine Seite an, die Ihre freien Zeiten anbietet.',
    },
  },
  events: [],
  stale: ['appointments'],
  nameOf: ({ title }) => visible(title),
  lines: ({ slug, duration_minutes, active }, t, formats) => [
    `/book/${slug}`,
    t.calendar.minutes(formats.number(duration_minutes)),
    active ? null : t.calendar.inactive,
  ],
  // The API has no search of booking pages; a workspace has few.
  async search(words, _, __, signal) {
    const pages = await allOf((query) => bookingPagesApi.list(query, signal))
    const wanted = words.toLowerCase()
    return pages
      .filter(({ title, slug }) => `${title} ${slug}`.toLowerCase().includes(wanted))
      .map(({ id, title, slug }) => ({ id, name: title, detail: slug }))
  },
  list: async () => (await import('./booking-pages.tsx')).BookingPagesPage,
  record: async () => (await import('./booking-page.tsx')).BookingPageRecord,
} as const satisfies Kind<'booking_pages'>
