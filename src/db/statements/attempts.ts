import { type RawBuilder, sql } from 'kysely'
import { type Kinds, prepareRows } from './recordset.ts'

/**
 * A statement that adds attempts with the next numbers of their parents, at most one of each parent. The caller has locked the
 * parents, so no two attempts get the same number.
 */
export function prepareAttempts<K extends Kinds>(table: string, parent: keyof K & string, columns: K) {
  const names = Object.keys(columns)
  return prepareRows(columns, ({ row: typed, values }) => {
    const row: Record<string, RawBuilder<unknown>> = typed
    const number = sql`1 + coalesce((SELECT max(a.number) FROM ${sql.table(table)} AS a
      WHERE a.workspace_id = ${row.workspace_id} AND a.${sql.ref(parent)} = ${row[parent]}), 0)`
    return sql`INSERT INTO ${sql.table(table)} (number, ${sql.join(names.map((name) => sql.ref(name)))})
      ${values([number, ...names.map((name) => row[name] as RawBuilder<unknown>)])}`
  })
}
