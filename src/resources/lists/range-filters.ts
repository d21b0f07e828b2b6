import { type SqlBool, sql } from 'kysely'
import { definitionsOf } from '../../custom-fields/definitions.ts'
import type { Db } from '../../db/db.ts'
import { valueWithin } from '../../db/lists/by-value.ts'
import { anyOf, type Filter, none, within } from '../../db/lists/filters.ts'
import type { FilterKind, Wanted } from '../../http/filter-values.ts'
import { isRelative, rangeOf } from '../../http/relative-days.ts'
import type { Resource } from '../resource.ts'
import { encode } from '../values/encoding.ts'
import { type FilterField, narrower, type Range } from './filter-fields.ts'
import { ordersOf } from './list-query.ts'

// Filters by ranges, and by words that stand for one.

/** The caller and the time of a request. */
export type Asked = {
  workspace_id: number
  /** The person who asks, for whom `me` stands; null for a key. */
  person_id: string | null
  /** The zone of words such as `this_month`, if the person has none. */
  time_zone: string
  /** ISO 8601. */
  now: string
}

/** An end that holds every value of a kind, but no missing one (see the expressions of the orders). */
const widest: Partial<Record<FilterKind, { from?: number; to?: string }>> = {
  number: { from: 0 },
  integer: { from: 0 },
  day: { to: '9999-12-31' },
  time: { to: '9999-12-31T23:59:59.999Z' },
}

/** The column or the expression of a field. */
export const storedBy = ({ filter_by }: Resource, { name, column }: FilterField) =>
  filter_by[name] ?? sql.ref(typeof column.stored === 'string' ? column.stored : name)

/** The filter of a range of a field. */
export function rangeFilter(resource: Resource, condition: Range): Filter[] {
  const { field } = condition
  const { name, kind, column, nullable } = field
  // The order's own expression, so that its index answers. It puts records without a value beyond these ends.
  const [key] = ordersOf(resource).find(([first]) => first?.field === name) ?? []
  const ends = key && nullable ? narrower(condition, { field, ...widest[kind] }) : condition
  const end = (value?: string | number) => (value === undefined ? undefined : encode(column, value))
  return within(name, end(ends.from), end(ends.to), key?.by ?? storedBy(resource, field))
}

/** The filter of values of which some move with the calendar. */
export async function relativeFilter(
  db: Db,
  resource: Resource,
  asked: Asked,
  { field, wanted: { any, or_none, not, some } }: { field: FilterField; wanted: Wanted },
): Promise<Filter[]> {
  const time_zone = await zoneOfPerson(db, asked)
  function filterOfValue(value: string | number): Filter {
    const text = String(value)
    const range = isRelative(text)
      ? rangeOf(text, field.kind as 'day' | 'time', { now: asked.now, time_zone })
      : { from: value, to: value }
    const [found] = rangeFilter(resource, { field, ...range })
    if (!found) throw new Error(`${text} has no range.`)
    const { unfinished } = resource
    if (text !== 'overdue' || !unfinished) return found
    const both = (where: Filter['where']) => sql<SqlBool>`(${where} AND ${unfinished.where})`
    return { ...found, where: both(found.where), plain: both(found.plain) }
  }
  const missing = sql<SqlBool>`coalesce(${storedBy(resource, field)}, null) IS NULL`
  const found = [...any.map(filterOfValue), ...(or_none ? [{ where: missing, plain: missing }] : [])]
  return [
    ...(found.length > 1 ? [anyOf(found)] : found),
    ...not.map((value) => none(filterOfValue(value).plain)),
    ...(some ? [none(missing)] : []),
  ]
}

/** The zone of the person who asks, or of the request. */
async function zoneOfPerson(db: Db, { person_id, time_zone }: Asked): Promise<string> {
  if (person_id === null) return time_zone
  const person = await db
    .selectFrom('users')
    .select('time_zone')
    .where('id', '=', person_id)
    .executeTakeFirst()
  return person?.time_zone ?? time_zone
}

/**
 * The filters of words such as `this_month`, by the word, for a custom field. None unless the field is defined as a date: other
 * values are compared as texts.
 */
export async function customDays(
  db: Db,
  resource: Resource,
  asked: Asked,
  key: string,
  { any, not }: Wanted,
): Promise<ReadonlyMap<string, Filter>> {
  const words = [...any, ...not].map(String).filter((text) => text !== 'overdue' && isRelative(text))
  if (!words.length) return new Map()
  const { workspace_id, now } = asked
  const definition = (await definitionsOf(db, workspace_id, resource)).find((one) => one.key === key)
  if (definition?.type !== 'date') return new Map()
  const zoned = { now, time_zone: await zoneOfPerson(db, asked) }
  return new Map(
    words.map((word) => {
      const { from, to } = rangeOf(word, 'day', zoned)
      return [word, valueWithin(resource.table, workspace_id, definition.id, from, to)]
    }),
  )
}
