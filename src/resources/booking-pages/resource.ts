import { defineResource, type TableOf } from '../resource.ts'
import { columns } from './schema.ts'

/** Booking pages: an extension of the interface, without events. */
export const booking_pages = defineResource({
  table: 'booking_pages',
  noun: 'booking page',
  about: 'When visitors can book an appointment themselves, and what is still free.',
  columns,
  title: { fields: ['title'] },
  events: [],
})

declare module '../../db/tables.ts' {
  interface Tables {
    booking_pages: TableOf<typeof columns>
  }
}
