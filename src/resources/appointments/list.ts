import { type Static, Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { within } from '../../db/lists/filters.ts'
import { Id, time } from '../../http/fields.ts'
import { RecordsQuery } from '../../http/lists.ts'
import { type Asked, type Listed, listRecords, ordersOf } from '../list.ts'
import { appointmentRecords } from './operations.ts'
import { appointments } from './resource.ts'
import { type ListedAppointment, Status } from './schema.ts'

export const AppointmentsQuery = RecordsQuery(ordersOf(appointments), {
  status: Type.Optional(Status()),
  type: Type.Optional(Type.String({ maxLength: 64 })),
  contact_id: Type.Optional(Id()),
  booking_page_id: Type.Optional(Id()),
  start_from: time('Starts at or after this time.'),
  start_to: time('Starts at or before this time.'),
  end_from: time('Ends at or after this time: with start_to, all that take place in a time.'),
})

/** One page of the live appointments that meet the query. */
export async function listAppointments(
  db: Db,
  asked: Asked<Static<typeof AppointmentsQuery>>,
): Promise<Listed<ListedAppointment>> {
  const { start_from, start_to, end_from } = asked.query
  return listRecords(db, appointments, asked, appointmentRecords.byIds, [
    ...within('start_at', start_from, start_to),
    ...within('end_at', end_from, undefined),
  ])
}
