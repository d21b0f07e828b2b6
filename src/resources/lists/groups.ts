import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { countOf, countsOfValues } from '../../db/lists/counts.ts'
import type { Filter } from '../../db/lists/filters.ts'
import { conditionOf } from '../../db/lists/lists.ts'
import type { Resource } from '../resource.ts'
import { lastDayOf, monthAfter, monthStart } from '../values/months.ts'
import { decimalOf, part, unitsOf } from '../values/sums.ts'
import { type Condition, type FilterField, filterFieldsOf, writtenValue } from './filter-fields.ts'
import { countMonths } from './group-ranges.ts'
import { filtersOf, type ListRequest } from './list.ts'
import { ordersOf } from './list-query.ts'

// The records of a list by the values of a field, or by the months of a date.

/** An answer has at most this many groups: the largest, and of months the latest. */
export const max_groups = 100

/** One group. `filter` has the parameters with which the list has its records, beside those of the request. */
export type Group = {
  /** A value of the field, or a month, YYYY-MM. Null: the records without a value. */
  value: string | null
  count: number
  /** The sums of the amounts, by their fields. */
  sums?: Record<string, number>
  filter: Record<string, string>
}
export type Groups = {
  by: string
  /** All records, also those of groups that are left out. */
  count: number
  groups: Group[]
  /** Whether groups are left out. */
  more: boolean
}

const isDate = ({ kind }: FilterField) => kind === 'day' || kind === 'time'

/**
 * The fields that a list can be grouped by: codes, members, texts with kept totals, and the dates that the list can be
 * sorted by, in months.
 */
export function groupFieldsOf(resource: Resource): FilterField[] {
  const sorted = new Set(ordersOf(resource).map(([first]) => first?.field))
  return filterFieldsOf(resource).filter((field) => {
    const { kind, name, column } = field
    if (isDate(field)) return sorted.has(name)
    return kind === 'code' || kind === 'member' || (kind === 'text' && column.counted)
  })
}

/** The fields whose values are amounts: each group has their sums. */
export const summedFieldsOf = ({ stored }: Resource) =>
  stored.filter(({ column }) => column.encoding === 'ten_thousandths' && !column.kept)

type Asked = {
  request: Omit<ListRequest, 'listing'>
  by: FilterField
  /** The zone that decides months. */
  time_zone: string
  /** The filters that only this list has. */
  more: readonly Filter[]
}

/** The groups of the live records that a list has with the same parameters. */
export async function groupsOf(db: Db, resource: Resource, asked: Asked): Promise<Groups> {
  const { by, request, time_zone, more } = asked
  const own = await filtersOf(db, resource, request)
  if (!own) return { by: by.name, count: 0, groups: [], more: false }
  const filters = [...own, ...more]
  const { table, stored } = resource
  const { workspace_id, conditions } = request
  const column = sql.ref(stored.find(({ field }) => field === by.name)?.name ?? by.name)
  const condition = await conditionOf(db, { table, workspace_id, filters })
  const found: Found = { resource, condition, filtered: filters.length > 0, column }
  const read = await readRows(db, found, { by, workspace_id, time_zone })
  const groups = read.rows.map(({ value, n, total: _, ...sums }) => ({
    value,
    count: n,
    ...sumsOf(resource, sums),
    filter: filterOf(by, value, time_zone, conditions),
  }))
  return { by: by.name, count: read.rows[0]?.total ?? 0, groups, more: read.more }
}

/** The records to group, and the column to group them by. */
type Found = {
  resource: Resource
  condition: RawBuilder<SqlBool>
  filtered: boolean
  column: RawBuilder<unknown>
}
type Row = { value: string | null; n: number; total: number } & Record<string, unknown>
type Read = { rows: Row[]; more: boolean }

type By = Pick<Asked, 'by' | 'time_zone'> & { workspace_id: number }

async function readRows(db: Db, found: Found, { by, workspace_id, time_zone }: By): Promise<Read> {
  const { resource, condition, filtered } = found
  // All records of the list, without amounts: the kept totals and the indexes have all numbers.
  const counts_only = !filtered && !summedFieldsOf(resource).length
  if (!isDate(by))
    return counts_only && by.column.counted
      ? readTotals(db, resource, workspace_id, by)
      : readValues(db, found, by)
  if (!counts_only) return readMonths(db, found, by, time_zone)
  const [order] = ordersOf(resource).find(([first]) => first?.field === by.name) ?? []
  const dated = { table: resource.table, condition, by: order?.by ?? found.column, time_zone }
  const { rows, more } = await countMonths(db, { ...dated, kind: by.kind as 'day' | 'time' }, max_groups)
  const total = await countOf(db, workspace_id, resource.table)
  return { rows: rows.map((row) => ({ ...row, total })), more }
}

/** The rows of each value of an expression: their number, and their sums in two parts each (sums.ts). */
async function readGroups(
  db: Db,
  { resource, condition, filtered, column }: Found,
  key: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<Read> {
  const amounts = summedFieldsOf(resource)
  const columns = sql.join([sql`${column} AS grouped`, ...amounts.map(({ name }) => sql.ref(name))])
  const sums = amounts.flatMap(({ field, name }) => [
    sql`sum(${sql.ref(name)} / ${sql.lit(part)}) AS ${sql.ref(`${field}_parts`)}`,
    sql`sum(${sql.ref(name)} % ${sql.lit(part)}) AS ${sql.ref(`${field}_rest`)}`,
  ])
  // MATERIALIZED makes the planner use the filter's index. The index in the order of the groups would read all records.
  const { rows } = await sql<Row>`
    WITH found AS ${filtered ? sql`MATERIALIZED` : sql``} (
      SELECT ${columns} FROM ${sql.table(resource.table)} WHERE ${condition})
    SELECT ${key} AS value, ${sql.join([sql`count(*) AS n, sum(count(*)) OVER () AS total`, ...sums])}
    FROM found GROUP BY 1 ORDER BY ${order} LIMIT ${max_groups + 1}`.execute(db)
  return { rows: rows.slice(0, max_groups), more: rows.length > max_groups }
}

/** Codes in their order; other values by the number of their records, the most first. */
async function readValues(db: Db, found: Found, by: FilterField): Promise<Read> {
  const { rows, more } = await readGroups(db, found, sql.ref('grouped'), sql`n DESC, value NULLS LAST`)
  return { rows: inOrder(rows, by), more }
}

function inOrder(rows: Row[], { choices }: FilterField): Row[] {
  const placeOf = ({ value }: Row) => choices?.indexOf(value ?? '') ?? 0
  return choices ? rows.sort((a, b) => placeOf(a) - placeOf(b)) : rows
}

/** The same of all records of a list, from the kept totals. */
async function readTotals(db: Db, { table }: Resource, workspace_id: number, by: FilterField): Promise<Read> {
  const total = await countOf(db, workspace_id, table)
  const valued = await countsOfValues(db, workspace_id, table, by.name)
  const none = valued.reduce((rest, { n }) => rest - n, total)
  const all = [...valued, ...(none > 0 ? [{ value: null, n: none }] : [])]
  const rows = all
    .sort((a, b) => b.n - a.n || ((a.value ?? '\u{10ffff}') < (b.value ?? '\u{10ffff}') ? -1 : 1))
    .map((row): Row => ({ ...row, total }))
  return { rows: inOrder(rows.slice(0, max_groups), by), more: rows.length > max_groups }
}

/** The latest months in their order, and then the records without a date. */
async function readMonths(db: Db, found: Found, { kind }: FilterField, time_zone: string): Promise<Read> {
  const order = sql`value DESC NULLS FIRST`
  const { rows, more } =
    kind === 'day'
      ? await readGroups(db, found, sql`substr(grouped, 1, 7)`, order)
      : await readMonthsOfTimes(db, found, time_zone, order)
  const dated = rows.filter(({ value }) => value !== null).reverse()
  return { rows: [...dated, ...rows.filter(({ value }) => value === null)], more }
}

// Times are in UTC. So a record of one of these months can be in the month before or after it. Neighbours may be one
// month of the zone: these are enough for `max_groups`.
const max_months = 2 * max_groups + 2
const last_month = '9999-12'
const older = ''

async function readMonthsOfTimes(
  db: Db,
  { resource, condition, ...found }: Found,
  time_zone: string,
  order: RawBuilder<unknown>,
): Promise<Read> {
  const month = sql<string>`substr(${found.column}, 1, 7)`
  const { rows: utc } = await sql<{ month: string }>`
    SELECT DISTINCT ${month} AS month FROM ${sql.table(resource.table)}
    WHERE ${condition} AND ${found.column} IS NOT NULL ORDER BY 1 DESC LIMIT ${max_months}`.execute(db)
  const near = utc.flatMap(({ month }) => [-1, 0, 1].map((by) => monthAfter(month, by)))
  // A month after them is written with a sign and six digits.
  const months = [...new Set(near)].filter((month) => month.length === last_month.length).sort()
  const starts = months.map((month) => ({ month, from: monthStart(month, time_zone) }))
  const key = sql`CASE WHEN grouped IS NULL THEN NULL ELSE ${monthOf(starts)} END`
  const { rows, more } = await readGroups(db, { ...found, resource, condition }, key, order)
  const shown = rows.filter(({ value }) => value !== older)
  return { rows: shown, more: more || shown.length < rows.length }
}

/** The month of a time, as SQL: the last one that has begun, found by halves; `older` before all of them. */
function monthOf(starts: readonly { month: string; from: string }[]): RawBuilder<string> {
  const between = (low: number, high: number): RawBuilder<string> => {
    if (low === high) return sql`${sql.lit(starts[low - 1]?.month ?? older)}`
    const middle = Math.ceil((low + high) / 2)
    const from = starts[middle - 1]?.from ?? ''
    return sql`CASE WHEN grouped < ${sql.lit(from)} THEN ${between(low, middle - 1)} ELSE ${between(middle, high)} END`
  }
  return between(0, starts.length)
}

function sumsOf(resource: Resource, row: Record<string, unknown>): Pick<Group, 'sums'> {
  const amounts = summedFieldsOf(resource)
  if (!amounts.length) return {}
  const numberOf = (name: string) => row[name] as number | null
  const sums = amounts.map(({ field }): [string, number] => [
    field,
    decimalOf(unitsOf(numberOf(`${field}_parts`), numberOf(`${field}_rest`))),
  ])
  return { sums: Object.fromEntries(sums) }
}

// The ends of the times that a filter takes.
const [first_time, last_time] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']

/** The parameters with which the list has the records of a group. A range of the request is narrowed to the group. */
function filterOf(
  { name, kind }: FilterField,
  value: string | null,
  time_zone: string,
  conditions: readonly Condition[],
): Record<string, string> {
  if (value === null) return { [name]: 'null' }
  if (kind !== 'day' && kind !== 'time') return { [name]: writtenValue(value) }
  const range = conditions.find(({ field, ...rest }) => field.name === name && !('wanted' in rest))
  const { from = '', to = last_time } = (range ?? {}) as { from?: string; to?: string }
  const [first, last] = kind === 'day' ? [`${value}-01`, lastDayOf(value)] : timesOf(value, time_zone)
  return { [`${name}_from`]: first > from ? first : from, [`${name}_to`]: last < to ? last : to }
}

/** The first and the last millisecond of a month of a zone, in UTC. */
function timesOf(month: string, time_zone: string): [string, string] {
  const from = monthStart(month, time_zone)
  if (month === last_month) return [from, last_time]
  const next = Date.parse(monthStart(monthAfter(month, 1), time_zone))
  return [from < first_time ? first_time : from, new Date(next - 1).toISOString()]
}
