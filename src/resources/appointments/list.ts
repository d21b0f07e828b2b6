import type { Db } from '../../db/db.ts'
import type { Found } from '../../db/lists/lists.ts'
import type { Texts } from '../../db/statements/json-text.ts'
import { type ListRequest, listRecords } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import { listedFields, selectionOf, textsByIds } from '../writing/selection.ts'
import { appointmentRecords } from './operations.ts'
import { appointments } from './resource.ts'
import { type appointment_filters, columns, contact_by_name } from './schema.ts'

/** The list view with the name of the contact. */
export const with_contact = selectionOf(appointments, { ...listedFields(columns), ...contact_by_name })
const withContact = textsByIds(with_contact, ',')

/** One page of the live appointments that meet the query; with details=true, with the names of their contacts. */
export function listAppointments(
  db: Db,
  request: ListRequest<FilterValues<typeof appointment_filters>>,
): Promise<Found<Texts>> {
  const read = request.query.details === 'true' ? withContact : appointmentRecords.listed
  return listRecords(db, appointments, request, read)
}
