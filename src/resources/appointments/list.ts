import type { Db } from '../../db/db.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { type ListRequest, listRecords } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import { readerOf } from '../writing/records.ts'
import { listedFields } from '../writing/selection.ts'
import { appointmentRecords } from './operations.ts'
import { appointments } from './resource.ts'
import { type AppointmentOfList, type appointment_filters, columns, contact_by_name } from './schema.ts'

const withContact = readerOf<AppointmentOfList>(appointments, {
  ...listedFields(columns),
  ...contact_by_name,
})

/** One page of the live appointments that meet the query; with details=true, with the names of their contacts. */
export function listAppointments(
  db: Db,
  request: ListRequest<FilterValues<typeof appointment_filters>>,
): Promise<Listed<AppointmentOfList>> {
  const read = request.query.details === 'true' ? withContact : appointmentRecords.byIds
  return listRecords<AppointmentOfList>(db, appointments, request, read)
}
