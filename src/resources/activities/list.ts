import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { type Filter, within } from '../../db/lists/filters.ts'
import type { Listed } from '../../db/lists/lists.ts'
import { type ListRequest, listRecords } from '../list.ts'
import type { FilterValues } from '../list-query.ts'
import { readerOf } from '../records.ts'
import { listedFields } from '../selection.ts'
import { activityRecords } from './operations.ts'
import { activities, by_due_date } from './resource.ts'
import { type ActivityOfList, type activity_filters, columns, references_by_name } from './schema.ts'

const last_time = '9999-12-31T23:59:59.999Z'

const withNames = readerOf<ActivityOfList>(activities, { ...listedFields(columns), ...references_by_name })

/** One page of the live activities that meet the query; with details=true, with the names of what each refers to. */
export async function listActivities(
  db: Db,
  request: ListRequest<FilterValues<typeof activity_filters>>,
): Promise<Listed<ActivityOfList>> {
  const { status, due_from, due_to, details } = request.query
  const filters: Filter[] = []
  // A range never includes activities without a due date.
  if (due_from !== undefined || due_to !== undefined)
    filters.push(...within('due_at', due_from, due_to ?? last_time, by_due_date))
  if (status === 'completed') filters.push(await completed(db, request.workspace_id))
  else if (status) filters.push(status === 'open' ? open : overdue(request.now))
  const read = details === 'true' ? withNames : activityRecords.byIds
  return listRecords<ActivityOfList>(db, activities, request, read, filters)
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
