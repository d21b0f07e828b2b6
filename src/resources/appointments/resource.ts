import { type Generated, sql } from 'kysely'
import { defineResource, type TableOf } from '../resource.ts'
import { appointmentCancelled, appointmentCreated, appointmentUpdated } from './events.ts'
import { columns } from './schema.ts'

/** Appointments: an extension of the interface. */
export const appointments = defineResource({
  table: 'appointments',
  noun: 'appointment',
  about: 'The appointments of the calendar, with or without a contact.',
  columns,
  title: { fields: ['title'] },
  sort_name: ['title'],
  subtitle: 'start_at',
  // SHA-256 of the token in the private link, for those that a visitor booked. The wall clock of its time (clocks.ts).
  hidden: { link_hash: 'text', time_zone: 'text', utc_offset_minutes: 'integer' },
  orders: [[{ field: 'title', by: sql.ref('sort_name') }], [{ field: 'start_at', by: sql.ref('start_at') }]],
  filter_aliases: { start: 'start_at', end: 'end_at' },
  events: [appointmentCreated, appointmentUpdated, appointmentCancelled],
  timeline: { type: 'appointment', rank: 3 },
  owns: { appointment_guests: 'appointment_id' },
})

declare module '../../db/tables.ts' {
  interface Tables {
    appointments: TableOf<typeof columns> & {
      sort_name: Generated<string>
      link_hash: string | null
      time_zone: string | null
      utc_offset_minutes: number | null
    }
  }
}
