import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Filter } from '../../db/lists/filters.ts'
import { deals } from '../../resources/deals/resource.ts'
import { probabilitiesOf } from '../../resources/deals/settings.ts'
import { type Stage, shownProbability } from '../../resources/deals/stages.ts'
import { filtersOf, type ListRequest } from '../../resources/lists/list.ts'
import type { ReportMonth } from '../../resources/values/months.ts'
import { decimalOf, hundredth, unitsOf } from '../../resources/values/sums.ts'
import type { Forecast } from './forecast-schema.ts'
import { byOwner, largestOwners, type Owner } from './lines.ts'
import { parts, rest, type Sums } from './queries.ts'

type Won = { won_count: number; won_value: bigint }
/** The open deals of one owner, by month (YYYY-MM) or by `overdue`, `later` and `undated`. */
type Line = Sums & Won & { bucket: string; owner_id: Owner }

type OpenRow = {
  bucket: string
  owner_id: Owner
  stage: Stage
  own_probability: number | null
  n: number
  parts: number | null
  rest: number | null
}
type WonRow = { bucket: string; owner_id: Owner; n: number; parts: number | null; rest: number | null }

const nothing = { count: 0, value: 0n, weighted_hundredfold: 0n, won_count: 0, won_value: 0n }

/** By owner: the open deals by the month of their expected close date, and the deals won in these months. */
export async function forecastOf(
  db: Db,
  request: Omit<ListRequest, 'listing'>,
  months: readonly ReportMonth[],
  today: string,
): Promise<Forecast> {
  const filters = await filtersOf(db, deals, request)
  const lines = filters
    ? [
        ...(await openLines(db, request.workspace_id, filters, months, today)),
        ...(await wonLines(db, request.workspace_id, filters, months)),
      ]
    : []
  const { owners, omitted } = largestOwners(lines, ({ count, won_count }) => count + won_count)
  const of = (bucket: string) => lines.filter((line) => line.bucket === bucket)
  const bucketOf = (bucket: string) => ({
    ...shownOpen(sumOf(of(bucket))),
    owners: byOwner(of(bucket), owners).map(([owner_id, own]) => ({ owner_id, ...shownOpen(sumOf(own)) })),
  })
  return {
    today,
    overdue: bucketOf('overdue'),
    months: months.map(({ month, from, to }) => ({
      month,
      from_time: from,
      to_time: new Date(Date.parse(to) - 1).toISOString(),
      ...shown(sumOf(of(month))),
      owners: byOwner(of(month), owners).map(([owner_id, own]) => ({ owner_id, ...shown(sumOf(own)) })),
    })),
    later: bucketOf('later'),
    undated: bucketOf('undated'),
    total_open: shownOpen(sumOf(lines)),
    owners: byOwner(lines, owners).map(([owner_id, own]) => ({ owner_id, ...shown(sumOf(own)) })),
    omitted_owners: omitted,
  }
}

const sumOf = (lines: readonly Line[]): Sums & Won =>
  lines.reduce(
    (sum, next) => ({
      count: sum.count + next.count,
      value: sum.value + next.value,
      weighted_hundredfold: sum.weighted_hundredfold + next.weighted_hundredfold,
      won_count: sum.won_count + next.won_count,
      won_value: sum.won_value + next.won_value,
    }),
    nothing,
  )
const shownOpen = ({ count, value, weighted_hundredfold }: Sums) => ({
  count,
  value: decimalOf(value),
  weighted_value: decimalOf(hundredth(weighted_hundredfold)),
})
const shown = (sums: Sums & Won) => ({
  ...shownOpen(sums),
  won_count: sums.won_count,
  won_value: decimalOf(sums.won_value),
})

const andAll = (filters: readonly Filter[]) =>
  filters.length
    ? sql`AND ${sql.join(
        filters.map(({ where }) => where),
        sql` AND `,
      )}`
    : sql``

async function openLines(
  db: Db,
  workspace_id: number,
  filters: readonly Filter[],
  months: readonly ReportMonth[],
  today: string,
): Promise<Line[]> {
  const last = months.at(-1)?.month ?? ''
  const { rows } = await sql<OpenRow>`
    WITH open_deals AS MATERIALIZED (
      SELECT CASE WHEN expected_close_date IS NULL THEN 'undated'
          WHEN expected_close_date < ${today} THEN 'overdue'
          WHEN substr(expected_close_date, 1, 7) > ${last} THEN 'later'
          ELSE substr(expected_close_date, 1, 7) END AS bucket,
        owner_id, stage, own_probability, value_units
      FROM deals
      WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND status = 'open' ${andAll(filters)})
    SELECT bucket, owner_id, stage, own_probability, count(*) AS n, ${parts} AS parts, ${rest} AS rest
    FROM open_deals GROUP BY bucket, owner_id, stage, own_probability`.execute(db)
  const defaults = await probabilitiesOf(db, workspace_id)
  return rows.map(({ bucket, owner_id, n, parts, rest, ...state }) => {
    const value = unitsOf(parts, rest)
    const probability = shownProbability({ ...state, closed_probability: null }, defaults)
    return {
      ...nothing,
      bucket,
      owner_id,
      count: n,
      value,
      weighted_hundredfold: value * BigInt(probability),
    }
  })
}

async function wonLines(
  db: Db,
  workspace_id: number,
  filters: readonly Filter[],
  months: readonly ReportMonth[],
): Promise<Line[]> {
  const plain: Filter[] = filters.map((filter) => ({ ...filter, where: filter.plain }))
  // Each month is a range of the index of closed deals.
  const ranges = months.map(
    ({ month, from, to }) => sql`
      SELECT CAST(${month} AS text) AS bucket, owner_id, count(*) AS n, ${parts} AS parts, ${rest} AS rest
      FROM deals WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND stage = 'won'
        AND closed_at >= ${from} AND closed_at < ${to} ${andAll(plain)} GROUP BY owner_id`,
  )
  const { rows } = await sql<WonRow>`${sql.join(ranges, sql` UNION ALL `)}`.execute(db)
  return rows.map(({ bucket, owner_id, n, parts, rest }) => ({
    ...nothing,
    bucket,
    owner_id,
    won_count: n,
    won_value: unitsOf(parts, rest),
  }))
}
