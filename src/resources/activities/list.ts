import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { anyOf, type Filter, none } from '../../db/lists/filters.ts'
import type { Found } from '../../db/lists/lists.ts'
import type { Texts } from '../../db/statements/json-text.ts'
import { invalid } from '../../errors.ts'
import { readWanted, type Wanted } from '../../http/filter-values.ts'
import { type ListRequest, listRecords } from '../lists/list.ts'
import type { FilterValues } from '../lists/list-query.ts'
import { listedFields, selectionOf, textsByIds } from '../writing/selection.ts'
import { activityRecords } from './operations.ts'
import { activities, by_due_date } from './resource.ts'
import { type activity_filters, columns, references_by_name, status_filter } from './schema.ts'

/** The list view with the names of what an activity refers to. */
export const with_names = selectionOf(activities, { ...listedFields(columns), ...references_by_name })
const withNames = textsByIds(with_names, ',')

/** One page of the live activities that meet the query; with details=true, with the names of what each refers to. */
export async function listActivities(
  db: Db,
  request: ListRequest<FilterValues<typeof activity_filters>>,
): Promise<Found<Texts>> {
  const read = request.query.details === 'true' ? withNames : activityRecords.listed
  return listRecords(db, activities, request, read, await statusFilters(db, request))
}

/** The filters by the status, which no column holds. */
export async function statusFilters(
  db: Db,
  request: Omit<ListRequest<FilterValues<typeof activity_filters>>, 'listing'>,
): Promise<Filter[]> {
  const { status } = request.query
  const wanted = status === undefined ? null : readWanted(status_filter, status)
  if (wanted && 'code' in wanted) throw invalid([wanted])
  return wanted ? filtersOf(db, request, wanted) : []
}

async function filtersOf(
  db: Db,
  { workspace_id, now }: Pick<ListRequest, 'workspace_id' | 'now'>,
  { any, not }: Wanted,
): Promise<Filter[]> {
  const filterOf = async (status: string | number): Promise<Filter> => {
    if (status === 'completed') return completed(db, workspace_id)
    return status === 'open' ? open : overdue(now)
  }
  const [wanted, refused] = await Promise.all([any, not].map((list) => Promise.all(list.map(filterOf))))
  return [
    ...(wanted?.length ? [wanted.length > 1 ? anyOf(wanted) : (wanted[0] as Filter)] : []),
    ...(refused ?? []).map(({ plain }) => none(plain)),
  ]
}

// The field is that of the order whose index holds open activities only.
const open: Filter = {
  field: 'due_at',
  where: sql`completed_at IS NULL`,
  plain: sql`coalesce(completed_at, null) IS NULL`,
}

const overdue = (now: string): Filter => ({
  field: 'due_at',
  where: sql`completed_at IS NULL AND ${by_due_date} < ${now}`,
  plain: sql`coalesce(completed_at, null) IS NULL AND coalesce(due_at, null) < ${now}`,
})

// Only open activities are indexed, so count those and subtract.
async function completed(db: Db, workspace_id: number): Promise<Filter> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM activities
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND completed_at IS NULL`.execute(db)
  const total = Math.max(0, (await countOf(db, workspace_id, 'activities')) - Number(rows[0]?.n))
  const where = sql`completed_at IS NOT NULL` as Filter['where']
  return { where, plain: where, total }
}
