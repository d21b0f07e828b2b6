import type { Db } from '../db/db.ts'
import {
  dated,
  type Filter,
  type Found,
  findRecords,
  inOrder,
  type Order,
  type Page,
  type Sorting,
} from '../db/lists.ts'
import { perNumber } from '../db/pages.ts'
import { prepare } from '../db/prepare.ts'
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
  const rows = ids.length ? await withIds(ids.length)(db, { workspace_id, ...ids }) : []
  return { pages: inOrder(ids, rows).map(shownPage), total, next }
}

type Ids = { workspace_id: number } & Record<number, number>
const withIds = perNumber((count) =>
  prepare((db, p: Ids) =>
    db
      .selectFrom('booking_pages')
      .select(page_columns)
      .where('workspace_id', '=', p.workspace_id)
      .where(
        'id',
        'in',
        Array.from({ length: count }, (_, index) => p[index] as number),
      ),
  ),
)
