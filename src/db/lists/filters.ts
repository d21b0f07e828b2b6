import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf } from '../statements/prepare.ts'
import { indexedValue, indexedWhole, type Valued } from './field-values.ts'

/** A condition of a list. */
export type Filter = {
  /** The field, where an order may begin with the same one. */
  field?: string
  /** In the form that an index answers. */
  where: RawBuilder<SqlBool>
  /** The same in a form that no index offers itself for: a planner without statistics takes any. */
  plain: RawBuilder<SqlBool>
  /** The index that answers it goes on with the id. */
  by_id?: boolean
  /** How many records meet it, where that is kept. */
  total?: number
  /** Where to look whether there are many, without reading the records: a query of a row for each. */
  probe?: RawBuilder<unknown>
  /** The number of live records that meet it, where that can be had without reading them all. */
  count?: RawBuilder<{ n: number }>
}

/** Records whose column has this value; `total` as it is kept. */
export const equals = (column: string, value: string | number, total?: number): Filter => ({
  field: column,
  where: sql`${sql.ref(column)} = ${value}`,
  plain: sql`coalesce(${sql.ref(column)}, null) = ${value}`,
  by_id: true,
  ...(total !== undefined && { total }),
})

/** Records whose value lies in a range, both ends included; none when neither is given. */
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

/** Records with a tag or a custom field's value (db/lists/field-values.ts); `values` are the forms that it may be kept in. */
export function hasValue(
  db: Db,
  kind: Valued,
  workspace_id: number,
  field: string,
  values: string[],
): Filter {
  const matching = sql`SELECT record_id FROM field_values WHERE workspace_id = ${workspace_id} AND kind = ${kind}
    AND field = ${field} AND value IN (${sql.join(values.map(indexedValue))})`
  // What is too long for the index is decided by the record's own text, which JSON.stringify wrote.
  const [value = ''] = values
  const written = `${JSON.stringify(field.slice('custom_fields.'.length))}:${JSON.stringify(value)}`
  const whole = indexedWhole(value)
    ? sql``
    : sql` AND replace(custom_fields, ${written}, '') <> custom_fields`
  // Few are in the trash, and they alone are looked at one by one.
  const all = sql`(SELECT count(*) FROM (${matching}) AS of_value)`
  const trashed = sql`(SELECT count(*) FROM ${sql.table(kind)} WHERE workspace_id = ${workspace_id}
    AND deleted_at IS NOT NULL AND EXISTS (${matching} AND record_id = ${sql.ref(kind)}.id))`
  // Neither form is a join: PostgreSQL without statistics would compare each record with each value.
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
