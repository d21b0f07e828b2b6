import type { Db } from '../../db/db.ts'
import type { Listed } from '../../db/lists/lists.ts'
import type { Condition } from '../lists/filter-fields.ts'
import { emptyPage, type ListRequest, listRecords, type ReadByIds } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import { dealRecords } from './operations.ts'
import { progressFilters, withProgress } from './progress.ts'
import { deals } from './resource.ts'
import type { Deal, deal_filters, ListedDeal } from './schema.ts'
import { type Stage, statusOf } from './stages.ts'

/** How the deals of a query are read. */
function readerOf({ details, progress }: FilterValues<typeof deal_filters>): ReadByIds<ListedDeal | Deal> {
  if (progress === 'true') return readProgress
  return details === 'true' ? dealRecords.detailsByIds : dealRecords.byIds
}

const readProgress: ReadByIds<Deal> = async (db, workspace_id, ids) =>
  withProgress(db, workspace_id, await dealRecords.detailsByIds(db, workspace_id, ids))

/** One page of the live deals that meet the query. `details` and `progress` choose what they show. */
export async function listDeals(
  db: Db,
  request: ListRequest<FilterValues<typeof deal_filters>>,
): Promise<Listed<ListedDeal | Deal>> {
  const conditions = withoutStatus(request.conditions)
  if (!conditions) return emptyPage(request.listing)
  const { query } = request
  return listRecords<ListedDeal | Deal>(
    db,
    deals,
    { ...request, conditions },
    readerOf(query),
    progressFilters(query),
  )
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
