import type { Db } from '../../db/db.ts'
import { within } from '../../db/lists/filters.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { type ListRequest, listRecords } from '../list.ts'
import type { FilterValues } from '../list-query.ts'
import { appointmentRecords } from './operations.ts'
import { appointments } from './resource.ts'
import type { appointment_filters, ListedAppointment } from './schema.ts'

/** One page of the live appointments that meet the query. */
export async function listAppointments(
  db: Db,
  request: ListRequest<FilterValues<typeof appointment_filters>>,
): Promise<Listed<ListedAppointment>> {
  const { start_from, start_to, end_from } = request.query
  return listRecords(db, appointments, request, appointmentRecords.byIds, [
    ...within('start_at', start_from, start_to),
    ...within('end_at', end_from, undefined),
  ])
}
