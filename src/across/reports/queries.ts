import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { perKey, prepare } from '../../db/statements/prepare.ts'
import { activities, by_due_date } from '../../resources/activities/resource.ts'
import { deals } from '../../resources/deals/resource.ts'
import { probabilitiesOf } from '../../resources/deals/settings.ts'
import { type Stage, shownProbability } from '../../resources/deals/stages.ts'
import { filtersOf, type ListRequest } from '../../resources/lists/list.ts'
import type { ReportMonth } from '../../resources/values/months.ts'
import { part, type Units, unitsOf } from '../../resources/values/sums.ts'

/**
 * The number of deals, the sum of their values, and the sum of value × probability in percent (100 times the weighted
 * sum).
 */
export type Sums = { count: number; value: Units; weighted_hundredfold: Units }

type Group = {
  stage: Stage
  own_probability: number | null
  closed_probability: number | null
  n: number
  parts: number | null
  rest: number | null
}

export const parts = sql.raw(`sum(value_units / ${part})`)
export const rest = sql.raw(`sum(value_units % ${part})`)

/** The sums of the live deals by stage, without empty stages. The request may have any filters of the list of deals. */
export async function sumsOfStages(db: Db, request: Omit<ListRequest, 'listing'>): Promise<Map<Stage, Sums>> {
  const sums = new Map<Stage, Sums>()
  const filters = await filtersOf(db, deals, request)
  if (!filters) return sums
  const live = sql<SqlBool>`workspace_id = ${request.workspace_id} AND deleted_at IS NULL`
  const conditions = [live, ...filters.map(({ where }) => where)]
  const columns = sql`stage, own_probability, closed_probability, value_units`
  const those = sql`SELECT ${columns} FROM deals WHERE ${sql.join(conditions, sql` AND `)}`
  // MATERIALIZED makes the planner use the filter's index. The index in the order of the groups would read all deals.
  const found =
    conditions.length > 1 ? sql`WITH found AS MATERIALIZED (${those})` : sql`WITH found AS (${those})`
  const { rows } = await sql<Group>`${found}
    SELECT stage, own_probability, closed_probability, count(*) AS n, ${parts} AS parts, ${rest} AS rest
    FROM found GROUP BY stage, own_probability, closed_probability`.execute(db)
  const defaults = await probabilitiesOf(db, request.workspace_id)
  for (const { n, parts, rest, ...state } of rows) {
    const before = sums.get(state.stage) ?? { count: 0, value: 0n, weighted_hundredfold: 0n }
    const value = unitsOf(parts, rest)
    sums.set(state.stage, {
      count: before.count + n,
      value: before.value + value,
      weighted_hundredfold: before.weighted_hundredfold + value * BigInt(shownProbability(state, defaults)),
    })
  }
  return sums
}

export type ClosedSums = { count: number; value: Units }

type ClosedRow = {
  month: number
  status: 'won' | 'lost'
  n: number
  parts: number | null
  rest: number | null
}

// Each month and status is a range of one index, so no sort is needed.
const closedIn = perKey((count: number) =>
  prepare((p: { workspace_id: number } & Record<`from_${number}` | `to_${number}`, string>) => {
    const ranges = Array.from({ length: count }, (_, n) => n).flatMap((n) =>
      (['won', 'lost'] as const).map(
        (status) => sql`
          SELECT ${sql.lit(n)} AS month, ${sql.lit(status)} AS status, count(*) AS n, ${parts} AS parts, ${rest} AS rest
          FROM deals WHERE workspace_id = ${p.workspace_id} AND deleted_at IS NULL AND stage = ${sql.lit(status)}
            AND closed_at >= ${p[`from_${n}`]} AND closed_at < ${p[`to_${n}`]}`,
      ),
    )
    return sql<ClosedRow>`${sql.join(ranges, sql` UNION ALL `)}`
  }),
)

/** The live deals that were won and lost in each of the months, in their order. */
export async function outcomesOf(
  db: Db,
  workspace_id: number,
  months: readonly ReportMonth[],
): Promise<{ won: ClosedSums; lost: ClosedSums }[]> {
  const places = Object.fromEntries(
    months.flatMap(({ from, to }, n) => [
      [`from_${n}`, from],
      [`to_${n}`, to],
    ]),
  )
  const outcomes = months.map(() => ({ won: { count: 0, value: 0n }, lost: { count: 0, value: 0n } }))
  for (const { month, status, n, parts, rest } of await closedIn(months.length)(db, {
    workspace_id,
    ...places,
  })) {
    const outcome = outcomes[month]
    if (outcome) outcome[status] = { count: n, value: unitsOf(parts, rest) }
  }
  return outcomes
}

type Times = { now: string; from: string; to: string }

/**
 * The numbers of live open activities due before now, from `from` until `to` (the current day), and from `to` on. The
 * request may have any filters of the list of activities.
 */
export async function countOpenActivities(
  db: Db,
  request: Omit<ListRequest, 'listing'>,
  { now, from, to }: Times,
) {
  const none = { overdue_count: 0, today_count: 0, upcoming_count: 0 }
  const filters = await filtersOf(db, activities, request)
  if (!filters) return none
  const live = sql<SqlBool>`workspace_id = ${request.workspace_id} AND deleted_at IS NULL AND completed_at IS NULL`
  // The index of open activities by their due date finds them, so no other index may serve a filter.
  const conditions = sql.join([live, ...filters.map(({ plain }) => plain)], sql` AND `)
  const those = (due: RawBuilder<SqlBool>) =>
    sql`(SELECT count(*) FROM activities WHERE ${conditions} AND ${due})`
  const { rows } = await sql<typeof none>`SELECT
    ${those(sql`${by_due_date} < ${now}`)} AS overdue_count,
    ${those(sql`${by_due_date} >= ${from} AND ${by_due_date} < ${to}`)} AS today_count,
    ${those(sql`${by_due_date} >= ${to} AND ${by_due_date} < 'z'`)} AS upcoming_count`.execute(db)
  return rows[0] ?? none
}
