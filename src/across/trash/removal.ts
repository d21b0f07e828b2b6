import { sql } from 'kysely'
import { inBatches } from '../../db/batches.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { forgetDismissals } from '../../db/dismissed.ts'
import { indexValues, type Valued } from '../../db/lists/field-values.ts'
import { forgetMergedValues } from '../../db/merged.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { idListsOf, referrersOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { entriesOf } from '../erasure/slices.ts'

// One transaction changes this many references. It is short enough not to delay requests.
const batch = 500

const idsOf = (ids: readonly (number | string)[]) => sql.join(ids)

// Concurrent removals lock rows in the same order, so they cannot deadlock. On SQLite, the order would sort all references.
const inOrder = (tx: Tx) => (tx.engine === 'postgres' ? sql`ORDER BY id` : sql``)

/**
 * Removes records of one workspace that cannot be restored (`pending_removal` in db/records.ts). References to them become
 * null, lists lose their ids, and their parts are removed too. The audit log keeps that they existed, without their values.
 * Returns how many records this call removed. It is idempotent, may be stopped at any point, and may run concurrently.
 */
export async function removeRecords(
  db: Db,
  context: Context,
  resources: readonly Resource[],
  { resource, ids, action }: Removal,
  stopping?: AbortSignal,
): Promise<number> {
  if (!ids.length) return 0
  const { workspace_id } = context
  const referrers = referrersOf(resources, resource.table)
  const named = [
    ...referrers.map(({ resource: other, field }) => ({ name: other.table, by: field, in_list: false })),
    ...idListsOf(resources, resource.table).map(({ ids: { table, id } }) => ({
      name: table,
      by: id,
      in_list: true,
    })),
  ]
  for (const { name, by, in_list } of named)
    await inBatches(db, stopping, async (tx) => {
      const [table, column] = [sql.table(name), sql.ref(by)]
      const change = in_list ? sql`DELETE FROM ${table}` : sql`UPDATE ${table} SET ${column} = NULL`
      // The second condition keeps a reference that was changed while this statement waited for its row.
      const { numAffectedRows } = await sql`
        ${change}
        WHERE workspace_id = ${workspace_id} AND id IN (
          SELECT id FROM ${table}
          WHERE workspace_id = ${workspace_id} AND ${column} IN (${idsOf(ids)}) ${inOrder(tx)} LIMIT ${batch})
          AND ${column} IN (${idsOf(ids)})`.execute(tx)
      return Number(numAffectedRows)
    })
  for (const part of resources)
    if (part.part_of?.table === resource.table)
      await inBatches(db, stopping, (tx) => removeParts(tx, workspace_id, part, part.part_of?.by ?? '', ids))
  // The totals of the filters by these ids.
  const totals = referrers.flatMap(({ resource: other, field }) =>
    ids.map((id) => `${other.table}.${field}=${id}`),
  )
  return transaction(db, (tx) => removeRows(tx, context, { resource, ids, action }, totals))
}

type Removal = { resource: Resource; ids: readonly number[]; action: 'removed' | 'erased' }

async function removeParts(
  tx: Tx,
  workspace_id: number,
  { table }: Resource,
  by: string,
  owner_ids: readonly number[],
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    DELETE FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND id IN (
      SELECT id FROM ${sql.table(table)}
      WHERE workspace_id = ${workspace_id} AND ${sql.ref(by)} IN (${idsOf(owner_ids)}) ${inOrder(tx)} LIMIT ${batch})
    RETURNING id`.execute(tx)
  await forgetSides(
    tx,
    workspace_id,
    table,
    rows.map(({ id }) => id),
  )
  return rows.length
}

/** Removes the values of these records from the audit log. The author and the time of each change stay. */
async function forgetSides(tx: Tx, workspace_id: number, kind: string, ids: readonly number[]) {
  for await (const some of entriesOf(tx, workspace_id, kind, ids))
    await tx
      .updateTable('audit_log')
      .set({ before: null, after: null })
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', some)
      .execute()
}

async function removeRows(
  tx: Tx,
  context: Context,
  { resource, ids, action }: Removal,
  totals: readonly string[],
): Promise<number> {
  const { workspace_id } = context
  const { table, owns } = resource
  const mine = sql`workspace_id = ${workspace_id}`
  await forgetValues(tx, workspace_id, resource, ids)
  for (const [owned, by] of Object.entries(owns))
    await sql`DELETE FROM ${sql.table(owned)} WHERE ${mine} AND ${sql.ref(by)} IN (${idsOf(ids)})`.execute(tx)
  await forgetSides(tx, workspace_id, table, ids)
  if (resource.duplicates.length) {
    await forgetMergedValues(tx, workspace_id, table, ids, action)
    await forgetDismissals(tx, workspace_id, table, ids)
  }
  if (totals.length)
    await sql`DELETE FROM record_counts WHERE ${mine} AND name IN (${idsOf(totals)})`.execute(tx)
  const { rows } = await sql<{ id: number }>`
    DELETE FROM ${sql.table(table)} WHERE ${mine} AND id IN (${idsOf(ids)}) RETURNING id`.execute(tx)
  for (const { id } of rows) recordChange(tx, context, { action, kind: table, record_id: id })
  return rows.length
}

/** Removes the rows by which lists find records by these fields: by their tags and custom fields. */
export async function forgetValues(
  tx: Tx,
  workspace_id: number,
  { table, columns }: Resource,
  ids: readonly number[],
  fields: readonly string[] = Object.keys(columns),
) {
  const indexed = ['tags', 'custom_fields'].filter((name) => name in columns && fields.includes(name))
  if (!indexed.length) return
  const { rows } = await sql<{ id: number } & Record<string, string>>`
    SELECT id, ${sql.join(indexed.map((name) => sql.ref(name)))} FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id IN (${idsOf(ids)})`.execute(tx)
  for (const row of rows) {
    const values = Object.fromEntries(indexed.map((name) => [name, JSON.parse(String(row[name]))]))
    indexValues(tx, table as Valued, workspace_id, row.id, values, {})
  }
}
