import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { activities, by_due_date } from '../../resources/activities/resource.ts'
import { type ActivityType, activity_types } from '../../resources/activities/schema.ts'
import { filtersOf, type ListRequest } from '../../resources/lists/list.ts'
import { byOwner, largestOwners, type Owner } from './lines.ts'
import type { PeopleActivities } from './people-schema.ts'

type Counts = { done_count: number; open_count: number; overdue_count: number }
type Line = Counts & { owner_id: Owner; type: ActivityType }
type Period = { from_time: string; to_time: string }

/** The activities of a period by owner and type: what was done, what is open, and what is overdue. */
export async function activitiesByPerson(
  db: Db,
  request: Omit<ListRequest, 'listing'>,
  { from_time, to_time }: Period,
): Promise<Omit<PeopleActivities, 'from' | 'to' | 'from_time' | 'to_time'>> {
  const filters = await filtersOf(db, activities, request)
  const conditions = filters?.map(({ plain }) => sql<SqlBool>` AND ${plain}`) ?? []
  const counted = (which: RawBuilder<unknown>, those: RawBuilder<unknown>) => sql`
    SELECT owner_id, type, ${which} FROM activities
    WHERE workspace_id = ${request.workspace_id} AND deleted_at IS NULL AND ${those}
      ${conditions.length ? sql.join(conditions, sql` `) : sql``}
    GROUP BY owner_id, type`
  // The conditions of the indexes of completed activities, and of open ones by their due date.
  const done = counted(
    sql`count(*) AS done_count, 0 AS open_count, 0 AS overdue_count`,
    sql`completed_at >= ${from_time} AND completed_at <= ${to_time}`,
  )
  const open = counted(
    sql`0 AS done_count, count(*) AS open_count,
      sum(CASE WHEN ${by_due_date} < ${request.now} THEN 1 ELSE 0 END) AS overdue_count`,
    sql`completed_at IS NULL AND ${by_due_date} >= ${from_time} AND ${by_due_date} <= ${to_time}`,
  )
  const { rows: lines } = filters ? await sql<Line>`${done} UNION ALL ${open}`.execute(db) : { rows: [] }
  const { owners, omitted } = largestOwners(lines, ({ done_count, open_count }) => done_count + open_count)
  return {
    ...sumOf(lines),
    types: typesOf(lines),
    people: byOwner(lines, owners).map(([owner_id, own]) => ({
      owner_id,
      ...sumOf(own),
      types: typesOf(own),
    })),
    omitted_owners: omitted,
  }
}

const sumOf = (lines: readonly Counts[]): Counts =>
  lines.reduce<Counts>(
    (sum, next) => ({
      done_count: sum.done_count + Number(next.done_count),
      open_count: sum.open_count + Number(next.open_count),
      overdue_count: sum.overdue_count + Number(next.overdue_count),
    }),
    { done_count: 0, open_count: 0, overdue_count: 0 },
  )

const typesOf = (lines: readonly Line[]) =>
  activity_types.flatMap((type) => {
    const of_type = lines.filter((line) => line.type === type)
    return of_type.length ? [{ type, ...sumOf(of_type) }] : []
  })
