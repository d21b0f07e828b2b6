import { sql } from 'kysely'
import type { Db, Tx } from './db.ts'
import { rowLock } from './locks.ts'
import type { Deletable } from './records.ts'
import { perKey, prepare } from './statements/prepare.ts'
import { isAnyOf, listParameter, prepareInsert } from './statements/recordset.ts'

const merged = prepare((p: { workspace_id: number; kind: string; id: number }, db) =>
  db
    .selectFrom('merged_records')
    .select(['merge_id', 'survivor_id'])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, kind: p.kind, record_id: p.id })),
)

/** The merge that moved a record to the trash, with the record that survived; null for other records. */
export async function mergeOf(
  db: Db,
  workspace_id: number,
  kind: string,
  id: number,
): Promise<{ merge_id: number; survivor_id: number } | null> {
  const [found] = await merged(db, { workspace_id, kind, id })
  return found ?? null
}

/** Returns the ids of the records that are survivors of a merge. */
export async function survivorsAmong(
  db: Db,
  workspace_id: number,
  kind: string,
  ids: readonly number[],
): Promise<number[]> {
  if (!ids.length) return []
  const rows = await db
    .selectFrom('merged_records')
    .select('survivor_id')
    .distinct()
    .where((eb) => eb.and({ workspace_id, kind }))
    .where('survivor_id', 'in', ids)
    .execute()
  return rows.map(({ survivor_id }) => survivor_id)
}

const max_merges = 100

/** The id of the record into which a record was merged; null for other records. Follows merges of that record, too. */
export async function mergedInto(
  db: Db,
  workspace_id: number,
  kind: string,
  id: number,
): Promise<number | null> {
  let last: number | null = null
  for (let n = 0; n < max_merges; n++) {
    const merge = await mergeOf(db, workspace_id, kind, last ?? id)
    if (!merge) break
    last = merge.survivor_id
  }
  return last
}

// merged_values keeps the values by which a merged record was matched. They stay when the trash removes the record: a file or a
// program that knows an old e-mail address finds the survivor.

/** A value of a field, as a key. */
export type MergedValue = { field: string; value: string }

const columns = {
  workspace_id: 'bigint!',
  kind: 'text!',
  field: 'text!',
  value: 'text!',
  record_id: 'bigint!',
} as const
const add = prepareInsert('merged_values', columns, { existing: 'stays' })

/** Keeps values of a live record that is merged into another one, and those of its unique custom fields. */
export async function keepMergedValues(
  tx: Tx,
  { workspace_id, kind, record_id }: { workspace_id: number; kind: string; record_id: number },
  values: readonly MergedValue[],
): Promise<void> {
  const { rows } = await sql<MergedValue>`
    SELECT 'custom_fields.' || d.key AS field, v.unique_value AS value FROM defined_values AS v
    JOIN field_definitions AS d ON d.workspace_id = v.workspace_id AND d.id = v.definition_id
    WHERE v.workspace_id = ${workspace_id} AND d.kind = ${kind} AND v.record_id = ${record_id}
      AND v.unique_value IS NOT NULL`.execute(tx)
  await add(
    tx,
    [...values, ...rows].map((value) => ({ workspace_id, kind, record_id, ...value })),
  )
}

type Wanted = { workspace_id: number; field: string; values: unknown }
const survivors = perKey((key: string) => {
  const [table, purpose] = key.split(' ') as [Deletable, string]
  return prepare((p: Wanted, db) => {
    const of_kind = sql`workspace_id = ${p.workspace_id} AND kind = ${sql.lit(table)}`
    const lock = purpose === 'lock' ? rowLock(db, 'FOR NO KEY UPDATE OF c') : sql``
    return sql<{ id: number; key: string }>`
      WITH RECURSIVE found(value, id) AS (
        SELECT value, record_id FROM merged_values
          WHERE ${of_kind} AND field = ${p.field} AND ${isAnyOf(db, 'value', p.values, 'text')}
        UNION SELECT found.value, m.survivor_id FROM found JOIN merged_records AS m
          ON m.workspace_id = ${p.workspace_id} AND m.kind = ${sql.lit(table)} AND m.record_id = found.id
      ) SELECT c.id, found.value AS key FROM found JOIN ${sql.table(table)} AS c
        ON c.workspace_id = ${p.workspace_id} AND c.id = found.id
        WHERE c.deleted_at IS NULL ORDER BY c.id ${lock}`
  })
})

/** The live records into which records with one of some values were merged. */
export const survivorsWith = (
  db: Db,
  table: Deletable,
  workspace_id: number,
  field: string,
  values: readonly string[],
  purpose: 'read' | 'lock' = 'read',
): Promise<{ id: number; key: string }[]> =>
  survivors(`${table} ${purpose}`)(db, { workspace_id, field, values: listParameter(db, values) })

/**
 * Removes the values of records that are removed, and of those that were merged into them. A merged record that only leaves the
 * trash leaves its values to the survivor.
 */
export async function forgetMergedValues(
  tx: Tx,
  workspace_id: number,
  kind: string,
  ids: readonly number[],
  action: 'removed' | 'erased',
): Promise<void> {
  const of_kind = sql`workspace_id = ${workspace_id} AND kind = ${kind}`
  const roots = sql.join(ids.map((id) => sql`(CAST(${id} AS bigint))`))
  const merged = sql`SELECT record_id FROM merged_records WHERE ${of_kind}`
  const kept = action === 'removed' ? sql`WHERE column1 NOT IN (${merged})` : sql``
  await sql`DELETE FROM merged_values WHERE ${of_kind} AND record_id IN (
    WITH RECURSIVE gone(id) AS (
      SELECT column1 FROM (VALUES ${roots}) AS given ${kept}
      UNION SELECT m.record_id FROM merged_records AS m JOIN gone ON m.survivor_id = gone.id
        WHERE m.workspace_id = ${workspace_id} AND m.kind = ${kind}
    ) SELECT id FROM gone)`.execute(tx)
}
