import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf } from '../statements/prepare.ts'
import { indexedValue, indexedWhole, type Valued } from './field-values.ts'

/** A condition of a list. */
export type Filter = {
  /** The field, if the index of an order starts with it. */
  field?: string
  /** The condition in a form that can use an index. */
  where: RawBuilder<SqlBool>
  /** The condition in a form that cannot use an index. Without statistics, a planner would use any index. */
  plain: RawBuilder<SqlBool>
  /** The next column of its index is the id. */
  by_id?: boolean
  /** The number of matching records, if it is kept. */
  total?: number
  /** A query with a row for each match, to check for many matches without reading the records. */
  probe?: RawBuilder<unknown>
  /** A query for the number of matching live records, if it is possible without reading all of them. */
  count?: RawBuilder<{ n: number }>
}

/** Records whose column has this value. `total` is the kept total, if there is one. */
export const equals = (column: string, value: string | number, total?: number): Filter => ({
  field: column,
  where: sql`${sql.ref(column)} = ${value}`,
  plain: sql`coalesce(${sql.ref(column)}, null) = ${value}`,
  by_id: true,
  ...(total !== undefined && { total }),
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
  const all = (value: RawBuilder<unknown>) => sql<SqlBool>`${sql.join(ends(value), sql` AND `)}`
  return [{ field, where: all(by), plain: all(sql`coalesce(${by}, null)`) }]
}

/** Records with a tag or a custom field's value (db/lists/field-values.ts). `values` are the stored forms to match. */
export function hasValue(
  db: Db,
  kind: Valued,
  workspace_id: number,
  field: string,
  values: string[],
): Filter {
  const matching = sql`SELECT record_id FROM field_values WHERE workspace_id = ${workspace_id} AND kind = ${kind}
    AND field = ${field} AND value IN (${sql.join(values.map(indexedValue))})`
  // A long value is searched in the record's custom_fields, which JSON.stringify wrote.
  const [value = ''] = values
  const written = `${JSON.stringify(field.slice('custom_fields.'.length))}:${JSON.stringify(value)}`
  const whole = indexedWhole(value)
    ? sql``
    : sql` AND replace(custom_fields, ${written}, '') <> custom_fields`
  // Soft-deleted records are few, so subtract them one by one.
  const all = sql`(SELECT count(*) FROM (${matching}) AS of_value)`
  const trashed = sql`(SELECT count(*) FROM ${sql.table(kind)} WHERE workspace_id = ${workspace_id}
    AND deleted_at IS NOT NULL AND EXISTS (${matching} AND record_id = ${sql.ref(kind)}.id))`
  // Avoid a join: without statistics, PostgreSQL would compare each record with each value.
  const of_value = engineOf(db) === 'postgres' ? sql`= ANY (ARRAY(${matching}))` : sql`IN (${matching})`
  const own = sql`${matching} AND record_id = ${sql.ref(kind)}.id LIMIT 1`
  const exact = values.length === 1 && indexedWhole(value)
  return {
    probe: matching,
    ...(exact && { count: sql<{ n: number }>`SELECT ${all} - ${trashed} AS n` }),
    where: sql`${sql.ref(kind)}.id ${of_value}${whole}`,
    plain: sql`(${own}) IS NOT NULL${whole}`,
  }
}
