import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Deletable } from '../../db/records.ts'
import { monthOf, monthStart } from '../values/months.ts'

// The months of all records of a list, as ranges of the index of an order: so no record is read.

type Dated = {
  table: Deletable
  /** The live records of the workspace. */
  condition: RawBuilder<SqlBool>
  /** The expression of the order. */
  by: RawBuilder<unknown>
  kind: 'day' | 'time'
  time_zone: string
}
type Month = { value: string | null; n: number }

// The orders put records without a date here, after every date.
const without = 'z'

/** The numbers of records of the latest months, oldest first, and of those without a date; at most `most` of them. */
export async function countMonths(
  db: Db,
  dated: Dated,
  most: number,
): Promise<{ rows: Month[]; more: boolean }> {
  const { table, condition, by, kind, time_zone } = dated
  const records = sql`FROM ${sql.table(table)} WHERE ${condition}`
  const ranges: { month: string; from: string; to: string }[] = []
  for (let to = without; ranges.length <= most; ) {
    const { rows } = await sql<{ at: string }>`
      SELECT ${by} AS at ${records} AND ${by} < ${to} ORDER BY ${by} DESC LIMIT 1`.execute(db)
    const [latest] = rows
    if (!latest) break
    const month = kind === 'day' ? latest.at.slice(0, 7) : monthOf(latest.at, time_zone)
    const from = kind === 'day' ? `${month}-01` : monthStart(month, time_zone)
    ranges.unshift({ month, from, to })
    to = from
  }
  const shown = ranges.slice(-most)
  const counts = [
    ...shown.map(
      ({ month, from, to }) =>
        sql`SELECT ${sql.lit(month)} AS value, count(*) AS n ${records} AND ${by} >= ${from} AND ${by} < ${to}`,
    ),
    sql`SELECT NULL AS value, count(*) AS n ${records} AND ${by} >= ${without}`,
  ]
  const { rows } = await sql<Month>`${sql.join(counts, sql` UNION ALL `)}`.execute(db)
  const found = rows
    .filter(({ n }) => n > 0)
    .sort((a, b) => ((a.value ?? without) < (b.value ?? without) ? -1 : 1))
  return { rows: found.slice(-most), more: ranges.length > most || found.length > most }
}
