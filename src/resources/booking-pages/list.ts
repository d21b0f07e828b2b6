import type { Db } from '../../db/db.ts'
import type { Filter } from '../../db/lists/filters.ts'
import { type Found, findRecords, type Page } from '../../db/lists/lists.ts'
import { dated, type Order, type Sorting } from '../../db/lists/orders.ts'
import { byIds } from '../../db/lists/pages.ts'
import { bytesOf, listed_bytes, textUpTo } from '../../db/sizes.ts'
import { short_columns } from './queries.ts'
import type { ListedBookingPage } from './schema.ts'

/** What booking pages can be sorted by. */
export const orders: readonly Order[] = dated

/** One page of the live booking pages that meet all filters; `total` and `next` as in findRecords. */
export async function listBookingPages(
  db: Db,
  workspace_id: number,
  filters: Filter[],
  page: Page,
  sorting: Sorting,
): Promise<Pick<Found, 'total' | 'next'> & { pages: ListedBookingPage[] }> {
  const found = await findRecords(db, { table: 'booking_pages', workspace_id, filters, sorting, page })
  const { ids, total, next } = found
  return { pages: (await withIds(db, workspace_id, ids)).map(listed), total, next }
}

const withIds = byIds('booking_pages', (db, those) =>
  db
    .selectFrom('booking_pages')
    .select([
      ...short_columns,
      textUpTo('description', listed_bytes).as('description'),
      bytesOf('description').as('description_bytes'),
      textUpTo('availability', listed_bytes).as('availability'),
      textUpTo('date_overrides', listed_bytes).as('date_overrides'),
    ])
    .where(those),
)
type Row = Awaited<ReturnType<typeof withIds>>[number]

const listed = ({
  description,
  description_bytes,
  availability,
  date_overrides,
  active,
  approval,
  ...row
}: Row): ListedBookingPage => ({
  ...row,
  active: active === 1,
  approval: approval === 1,
  ...(description_bytes <= listed_bytes && { description }),
  ...(availability !== null && { availability: JSON.parse(availability) }),
  ...(date_overrides !== null && { date_overrides: JSON.parse(date_overrides) }),
})
