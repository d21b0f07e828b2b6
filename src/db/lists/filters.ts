import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf } from '../tx.ts'
import { indexedValue, indexedWhole, type Valued } from './field-values.ts'
import type { Match } from './pages.ts'
import { sameText } from './same-text.ts'

/** A condition of a list. */
export type Filter = {
  /** The field, if the index of an order starts with it. */
  field?: string
  /** The condition in a form that can use an index. */
  where: RawBuilder<SqlBool>
  /** The condition in a form that cannot use an index. Without statistics, a planner would use any index. */
  plain: RawBuilder<SqlBool>
  /** The column and its value, if this equality is the whole filter. Its index has the id next, and its total is kept. */
  match?: Match
  /** The number of matching records, if it is kept. */
  total?: number
  /** A query with a row for each match, to check for many matches without reading the records. */
  probe?: RawBuilder<unknown>
  /** A query for the number of matching live records, if it is possible without reading all of them. */
  count?: RawBuilder<{ n: number }>
}

/** Records whose column has this value. `total` is the kept total. */
export const equals = (column: string, value: string | number, total: number): Filter => ({
  field: column,
  where: sql`${sql.ref(column)} = ${value}`,
  plain: sql`coalesce(${sql.ref(column)}, null) = ${value}`,
  match: { column, value },
  total,
})

type Value = string | number

const all = (conditions: RawBuilder<SqlBool>[]) => sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`
const either = (conditions: RawBuilder<SqlBool>[]) => sql<SqlBool>`(${sql.join(conditions, sql` OR `)})`

/** The values of a field that a filter asks for. `missing` is the condition of a record without a value. */
export type Choice = {
  any: readonly Value[]
  or_none: boolean
  not: readonly Value[]
  some: boolean
  missing: RawBuilder<SqlBool>
  /** A condition that all records with a value meet, which a partial index needs. */
  present?: RawBuilder<SqlBool> | undefined
}

/** Records whose value is one of some, or is missing, and is none of others. A record without a value is none of them. */
export function choice(
  by: RawBuilder<unknown>,
  { any, or_none, not, some, missing, present }: Choice,
  total?: number,
): Filter {
  const conditionOf = (value: RawBuilder<unknown>) => {
    const wanted = [
      ...(any.length ? [sql<SqlBool>`${value} IN (${sql.join(any)})`] : []),
      ...(or_none ? [missing] : []),
    ]
    return all([
      ...(wanted.length ? [either(wanted)] : []),
      ...(present && any.length && !or_none ? [present] : []),
      ...(not.length ? [either([missing, sql<SqlBool>`${value} NOT IN (${sql.join(not)})`])] : []),
      ...(some ? [sql<SqlBool>`NOT ${missing}`] : []),
    ])
  }
  const plain = conditionOf(sql`coalesce(${by}, null)`)
  return { where: conditionOf(by), plain, ...(total !== undefined && { total }) }
}

/** Records that do not meet a condition. No index serves it. `total` is their number, if it is known. */
export function none(where: RawBuilder<SqlBool>, total?: number): Filter {
  const without = sql<SqlBool>`NOT coalesce(${where}, false)`
  return { where: without, plain: without, ...(total !== undefined && { total }) }
}

/** The condition that a record has no custom field of this key. No index serves it. */
export const lacksKey = (db: Db, key: string): RawBuilder<SqlBool> =>
  engineOf(db) === 'sqlite'
    ? sql`NOT EXISTS (SELECT 1 FROM json_each(custom_fields) WHERE key = ${key})`
    : sql`(custom_fields::jsonb -> CAST(${key} AS text)) IS NULL`

/** Records that meet at least one of several filters. */
export const anyOf = (filters: readonly Filter[]): Filter => ({
  where: either(filters.map(({ plain }) => plain)),
  plain: either(filters.map(({ plain }) => plain)),
})

/** Records whose value is in a range; both ends are inclusive. No filter without an end. */
export function within(
  field: string,
  from: unknown,
  to: unknown,
  by: RawBuilder<unknown> = sql.ref(field),
): Filter[] {
  const ends = (value: RawBuilder<unknown>) => [
    ...(from === undefined ? [] : [sql<SqlBool>`${value} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${value} <= ${to}`]),
  ]
  if (!ends(by).length) return []
  const whole = (value: RawBuilder<unknown>) => all(ends(value))
  return [{ field, where: whole(by), plain: whole(sql`coalesce(${by}, null)`) }]
}

// More values are looked up as one set, not record by record.
const few_values = 8

/**
 * Records with a tag or a custom field's value (db/lists/field-values.ts). `values` are the stored forms to match: those
 * that the index holds whole, or one that is longer.
 */
export function hasValue(
  db: Db,
  kind: Valued,
  workspace_id: number,
  field: string,
  values: string[],
): Filter {
  const matching = sql`SELECT record_id FROM field_values WHERE workspace_id = ${workspace_id} AND kind = ${kind}
    AND field = ${field} AND value IN (${sql.join(values.map((value) => indexedValue(sameText(value))))})`
  // A long value is searched in the record's custom_fields, which JSON.stringify wrote.
  const [value = ''] = values
  const written = `${JSON.stringify(field.slice('custom_fields.'.length))}:${JSON.stringify(value)}`
  const whole = indexedWhole(value)
    ? sql``
    : sql` AND replace(custom_fields, ${written}, '') <> custom_fields`
  // Soft-deleted records are few, so subtract them one by one.
  const all = sql`(SELECT count(${values.length === 1 ? sql`*` : sql`DISTINCT record_id`}) FROM (${matching}) AS of_value)`
  const trashed = sql`(SELECT count(*) FROM ${sql.table(kind)} WHERE workspace_id = ${workspace_id}
    AND deleted_at IS NOT NULL AND EXISTS (${matching} AND record_id = ${sql.ref(kind)}.id))`
  // Avoid a join: without statistics, PostgreSQL would compare each record with each value.
  const of_value = engineOf(db) === 'postgres' ? sql`= ANY (ARRAY(${matching}))` : sql`IN (${matching})`
  const own = sql`${matching} AND record_id = ${sql.ref(kind)}.id LIMIT 1`
  const set = sql`coalesce(${sql.ref(kind)}.id, null) IN (${matching})`
  return {
    probe: matching,
    ...(indexedWhole(value) && { count: sql<{ n: number }>`SELECT ${all} - ${trashed} AS n` }),
    where: sql`${sql.ref(kind)}.id ${of_value}${whole}`,
    plain: sql`${values.length > few_values ? set : sql`(${own}) IS NOT NULL`}${whole}`,
  }
}
