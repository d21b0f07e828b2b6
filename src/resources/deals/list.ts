import type { Db } from '../../db/db.ts'
import type { Found } from '../../db/lists/lists.ts'
import type { Texts } from '../../db/statements/json-text.ts'
import type { Condition } from '../lists/filter-fields.ts'
import { type ListRequest, listFiltered, listRecords } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import { detailFields, listedFields, selectionOf, textsByIds } from '../writing/selection.ts'
import { dealRecords } from './operations.ts'
import { progressFilters, progressOf } from './progress.ts'
import { deals } from './resource.ts'
import { columns, type deal_filters } from './schema.ts'
import { type Stage, statusOf } from './stages.ts'

// In the order of the schema: the fields of the list view, then the others.
const fields = { ...listedFields(columns), ...detailFields(columns) }
export const with_details = selectionOf(deals, fields)
export const with_progress = selectionOf(deals, fields, progressOf)
const withDetails = textsByIds(with_details, ',')
const withProgress = textsByIds(with_progress, ',')

/** One page of the live deals that meet the query. `details` and `progress` choose what they show. */
export async function listDeals(
  db: Db,
  request: ListRequest<FilterValues<typeof deal_filters>>,
): Promise<Found<Texts>> {
  const conditions = withoutStatus(request.conditions)
  const { query } = request
  const { details, progress } = query
  const read = progress === 'true' ? withProgress : details === 'true' ? withDetails : dealRecords.listed
  if (!conditions) return listFiltered(db, deals, request, read, null)
  return listRecords(db, deals, { ...request, conditions }, read, await progressFilters(db, request))
}

const oneValue = (conditions: readonly Condition[], name: string): string | undefined => {
  const found = conditions.find(({ field }) => field.name === name)
  if (!found || !('wanted' in found)) return undefined
  const { any, not } = found.wanted
  return any.length === 1 && !not.length ? String(any[0]) : undefined
}

/**
 * The conditions without that of the status, if they name one stage and one status: the stage alone has a kept total.
 * Null if no deal of that stage has that status.
 */
function withoutStatus(conditions: Condition[]): Condition[] | null {
  const [stage, status] = [oneValue(conditions, 'stage'), oneValue(conditions, 'status')]
  if (stage === undefined || status === undefined) return conditions
  if (statusOf(stage as Stage) !== status) return null
  return conditions.filter(({ field }) => field.name !== 'status')
}
