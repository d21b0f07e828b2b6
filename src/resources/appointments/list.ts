import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { equals, type Filter, within } from '../../db/lists/filters.ts'
import { type Found, findRecords, type Page } from '../../db/lists/lists.ts'
import { dated, type Order, type Sorting } from '../../db/lists/orders.ts'
import { byIds } from '../../db/lists/pages.ts'
import { isLive, links } from '../../db/references.ts'
import { bytesOf, listed_bytes, textUpTo } from '../../db/sizes.ts'
import { appointmentsWithReferences, counted, listed_columns } from './queries.ts'
import type { AppointmentStatus, ListedAppointment } from './schema.ts'

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
): Promise<Pick<Found, 'total' | 'next'> & { appointments: ListedAppointment[] }> {
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

const withIds = byIds('appointments', (db, those) =>
  appointmentsWithReferences(db)
    .select([
      ...listed_columns,
      textUpTo('appointments.notes', listed_bytes).as('notes'),
      bytesOf('appointments.notes').as('notes_bytes'),
    ])
    .where(those),
)
type Row = Awaited<ReturnType<typeof withIds>>[number]
const listed = ({ notes, notes_bytes, ...row }: Row): ListedAppointment =>
  notes_bytes > listed_bytes ? row : { ...row, notes }

/** Appointments as the list shows them, in the order of their ids. */
export const appointmentsByIds = async (
  db: Db,
  workspace_id: number,
  ids: readonly number[],
): Promise<ListedAppointment[]> => (await withIds(db, workspace_id, ids)).map(listed)
