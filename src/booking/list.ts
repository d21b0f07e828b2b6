import type { Db } from '../db/db.ts'
import type { Filter } from '../db/filters.ts'
import { type Found, findRecords, type Page } from '../db/lists.ts'
import { dated, type Order, type Sorting } from '../db/orders.ts'
import { byIds } from '../db/pages.ts'
import { page_columns, shownPage } from './queries.ts'
import type { BookingPage } from './schema.ts'

/** What booking pages can be sorted by. */
export const orders: readonly Order[] = dated

/** One page of the live booking pages that meet all filters; `total` and `next` as in findRecords. */
export async function listBookingPages(
  db: Db,
  workspace_id: number,
  filters: Filter[],
  page: Page,
  sorting: Sorting,
): Promise<Pick<Found, 'total' | 'next'> & { pages: BookingPage[] }> {
  const found = await findRecords(db, { table: 'booking_pages', workspace_id, filters, sorting, page })
  const { ids, total, next } = found
  return { pages: (await withIds(db, workspace_id, ids)).map(shownPage), total, next }
}

const withIds = byIds('booking_pages', (db, those) =>
  db.selectFrom('booking_pages').select(page_columns).where(those),
)
