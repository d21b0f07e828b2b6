import { sql } from 'kysely'
import { countOf } from '../db/counts.ts'
import type { Db } from '../db/db.ts'
import { equals, type Filter, within } from '../db/filters.ts'
import { type Found, findRecords, type Page } from '../db/lists.ts'
import { dated, type Order, type Sorting } from '../db/orders.ts'
import { byIds } from '../db/pages.ts'
import { isLive, links } from '../db/references.ts'
import { appointmentsWithReferences, counted, shown_columns } from './queries.ts'
import type { Appointment, AppointmentStatus } from './schema.ts'

/** What appointments can be sorted by. */
export const orders: readonly Order[] = [...dated, [{ field: 'start_at', by: sql.ref('start_at') }]]

const references = links.appointments

type Asked = {
  status?: AppointmentStatus | undefined
  type?: string | undefined
  contact_id?: number | undefined
  booking_page_id?: number | undefined
  /** All inclusive. */
  start_from?: string | undefined
  start_to?: string | undefined
  end_from?: string | undefined
  /** What every list of records can be filtered by. */
  filters: Filter[]
}

/** One page of the live appointments that meet all filters; `total` and `next` as in findRecords. */
export async function listAppointments(
  db: Db,
  workspace_id: number,
  asked: Asked,
  page: Page,
  sorting: Sorting,
): Promise<Pick<Found, 'total' | 'next'> & { appointments: Appointment[] }> {
  // A link to a record in the trash reads null, so no appointment shows the id of one.
  for (const [link, table] of Object.entries(references)) {
    const id = asked[link as keyof typeof references]
    if (id !== undefined && !(await isLive(db, table, workspace_id, id)))
      return { appointments: [], total: 'offset' in page ? 0 : null, next: null }
  }
  const filters = [
    ...asked.filters,
    ...within('start_at', asked.start_from, asked.start_to),
    ...within('end_at', asked.end_from, undefined),
  ]
  for (const name of counted) {
    const value = asked[name]
    if (value === undefined) continue
    filters.push(equals(name, value, await countOf(db, workspace_id, `appointments.${name}=${value}`)))
  }
  const found = await findRecords(db, { table: 'appointments', workspace_id, filters, sorting, page })
  const { ids, total, next } = found
  return { appointments: await appointmentsByIds(db, workspace_id, ids), total, next }
}

/** Appointments as the list shows them, in the order of their ids. */
export const appointmentsByIds = byIds('appointments', (db, those) =>
  appointmentsWithReferences(db).select(shown_columns).where(those),
)
