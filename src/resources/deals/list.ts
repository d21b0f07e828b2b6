import type { Db } from '../../db/db.ts'
import { within } from '../../db/lists/filters.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { emptyPage, type ListRequest, listRecords } from '../list.ts'
import type { FilterValues } from '../list-query.ts'
import { dealRecords } from './operations.ts'
import { by_close_date, deals } from './resource.ts'
import type { Deal, deal_filters, ListedDeal } from './schema.ts'
import { statusOf } from './stages.ts'

/** One page of the live deals that meet the query. With details=true, deals have the detail view. */
export async function listDeals(
  db: Db,
  request: ListRequest<FilterValues<typeof deal_filters>>,
): Promise<Listed<ListedDeal | Deal>> {
  const { stage, status, expected_close_from, expected_close_to, details } = request.query
  // A stage has one status: both together match what the stage alone matches, or nothing.
  if (stage && status && statusOf(stage) !== status) return emptyPage(request.listing)
  const query = stage ? { ...request.query, status: undefined } : request.query
  const closing = closingFilter(expected_close_from, expected_close_to)
  const read = details === 'true' ? dealRecords.detailsByIds : dealRecords.byIds
  return listRecords<ListedDeal | Deal>(db, deals, { ...request, query }, read, closing)
}

/** Deals that are expected to close on these days, both included. Deals without a date are on none. */
export const closingFilter = (from: string | undefined, to: string | undefined) =>
  // The order's own expression, so that its index answers. Every day comes before its end.
  within('expected_close_date', from, to ?? (from && '9999-12-31'), by_close_date)
