import { defineResource, type TableOf } from '../resource.ts'
import { hostsText } from './hosts-text.ts'
import { columns } from './schema.ts'

/** Booking pages: an extension of the interface, without events. */
export const booking_pages = defineResource({
  table: 'booking_pages',
  noun: 'booking page',
  about: 'The times when visitors can book appointments, and the free slots.',
  columns,
  title: { fields: ['title'] },
  shown_by: { hosts: hostsText },
  events: [],
})

declare module '../../db/tables.ts' {
  interface Tables {
    booking_pages: TableOf<typeof columns>
  }
}
