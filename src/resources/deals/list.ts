import { type Static, Type } from 'typebox'
import type { Db } from '../../db/db.ts'
import { within } from '../../db/lists/filters.ts'
import { Id } from '../../http/fields.ts'
import { name_search, RecordsQuery } from '../../http/lists.ts'
import { type Asked, emptyPage, type Listed, listRecords, ordersOf } from '../list.ts'
import { dealRecords } from './operations.ts'
import { by_close_date, deals } from './resource.ts'
import { type Deal, type ListedDeal, StageCode, StatusCode } from './schema.ts'
import { statusOf } from './stages.ts'

export const DealsQuery = RecordsQuery(ordersOf(deals), {
  ...name_search,
  stage: Type.Optional(StageCode()),
  contact_id: Type.Optional(Id()),
  company_id: Type.Optional(Id()),
  status: Type.Optional(StatusCode()),
  expected_close_from: Type.Optional(
    Type.String({ format: 'date', description: 'Expected to close on this day or later.' }),
  ),
  expected_close_to: Type.Optional(
    Type.String({ format: 'date', description: 'Expected to close on this day or earlier.' }),
  ),
  details: Type.Optional(
    Type.Unsafe<'true' | 'false'>({
      type: 'string',
      enum: ['true', 'false'],
      description: 'true: each deal as GET one shows it, with its contact and its company.',
    }),
  ),
})

/** One page of the live deals that meet the query, in the list view or, with details=true, in the detail view. */
export async function listDeals(
  db: Db,
  asked: Asked<Static<typeof DealsQuery>>,
): Promise<Listed<ListedDeal | Deal>> {
  const { stage, status, expected_close_from, expected_close_to, details } = asked.query
  // A stage has one status: both together match what the stage alone matches, or nothing.
  if (stage && status && statusOf(stage) !== status) return emptyPage(asked.listing)
  const query = stage ? { ...asked.query, status: undefined } : asked.query
  const closing = closingFilter(expected_close_from, expected_close_to)
  const read = details === 'true' ? dealRecords.detailsByIds : dealRecords.byIds
  return listRecords<ListedDeal | Deal>(db, deals, { ...asked, query }, read, closing)
}

/** Deals that are expected to close on these days, both included. Deals without a date are on none. */
export const closingFilter = (from: string | undefined, to: string | undefined) =>
  // The order's own expression, so that its index answers. Every day comes before its end.
  within('expected_close_date', from, to ?? (from && '9999-12-31'), by_close_date)
