import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { indexValues } from '../../db/lists/field-values.ts'
import type { Deletable } from '../../db/records.ts'
import { referrersOf } from '../../db/references.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { entriesOf } from '../erasure/slices.ts'

// Small enough that no request waits noticeably for its transaction.
const batch = 500

const idsOf = (ids: readonly (number | string)[]) => sql.join(ids)

// So that two that do the same wait for each other, and never in a circle. SQLite would sort all that refers each time.
const inOrder = (tx: Db) => (engineOf(tx) === 'postgres' ? sql`ORDER BY id` : sql``)

/** Does a step again and again, each time in a transaction of its own, until it finds nothing to do. */
async function inBatches(
  db: Db,
  stopping: AbortSignal | undefined,
  step: (tx: Db) => Promise<number>,
): Promise<void> {
  // Not until it finds less than a batch: of a whole one, others may have done some.
  while ((await transaction(db, step)) > 0) stopping?.throwIfAborted()
}

/**
 * Removes records for good, which nothing brings back any more (`going` in db/records.ts): what refers to them refers to
 * nothing, what belongs to them goes, and the audit log keeps that they were, not what they were. Tells how many it was
 * that removed. May be stopped anywhere and begun again, and two may do it at once. All ids are of one workspace.
 */
export async function removeRecords(
  db: Db,
  context: Context,
  kind: Deletable,
  ids: readonly number[],
  action: 'removed' | 'erased',
  stopping?: AbortSignal,
): Promise<number> {
  if (!ids.length) return 0
  const { workspace_id } = context
  // A note belongs to its contact, and goes with it.
  for (const { table, column } of referrersOf(kind))
    await inBatches(db, stopping, async (tx) => {
      // Asked twice: one that got another reference while this waited for it keeps that.
      const { numAffectedRows } = await sql`
        UPDATE ${sql.table(table)} SET ${sql.ref(column)} = NULL
        WHERE workspace_id = ${workspace_id} AND id IN (
          SELECT id FROM ${sql.table(table)}
          WHERE workspace_id = ${workspace_id} AND ${sql.ref(column)} IN (${idsOf(ids)}) ${inOrder(tx)} LIMIT ${batch})
          AND ${sql.ref(column)} IN (${idsOf(ids)})`.execute(tx)
      return Number(numAffectedRows)
    })
  if (kind === 'contacts') await inBatches(db, stopping, (tx) => removeNotes(tx, workspace_id, ids))
  return transaction(db, (tx) => removeRows(tx, context, kind, ids, action))
}

async function removeNotes(tx: Db, workspace_id: number, contact_ids: readonly number[]): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    DELETE FROM notes WHERE workspace_id = ${workspace_id} AND id IN (
      SELECT id FROM notes
      WHERE workspace_id = ${workspace_id} AND contact_id IN (${idsOf(contact_ids)}) ${inOrder(tx)} LIMIT ${batch})
    RETURNING id`.execute(tx)
  await forgetSides(
    tx,
    workspace_id,
    'notes',
    rows.map(({ id }) => id),
  )
  return rows.length
}

/** Who changed these records and when stays in the audit log; what they were does not. */
async function forgetSides(tx: Db, workspace_id: number, kind: Deletable, ids: readonly number[]) {
  for await (const some of entriesOf(tx, workspace_id, kind, ids))
    await tx
      .updateTable('audit_log')
      .set({ before: null, after: null })
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', some)
      .execute()
}

async function removeRows(
  tx: Db,
  context: Context,
  kind: Deletable,
  ids: readonly number[],
  action: 'removed' | 'erased',
): Promise<number> {
  const { workspace_id } = context
  const mine = sql`workspace_id = ${workspace_id}`
  if (kind === 'contacts' || kind === 'companies') await forgetValues(tx, workspace_id, kind, ids)
  if (kind === 'deals')
    await sql`DELETE FROM deal_stages WHERE ${mine} AND deal_id IN (${idsOf(ids)})`.execute(tx)
  await forgetSides(tx, workspace_id, kind, ids)
  // What was counted by the reference: the filters by this id.
  const counts = referrersOf(kind).flatMap(({ table, column }) => ids.map((id) => `${table}.${column}=${id}`))
  if (counts.length)
    await sql`DELETE FROM record_counts WHERE ${mine} AND name IN (${idsOf(counts)})`.execute(tx)
  const { rows } = await sql<{ id: number }>`
    DELETE FROM ${sql.table(kind)} WHERE ${mine} AND id IN (${idsOf(ids)}) RETURNING id`.execute(tx)
  for (const { id } of rows) await recordChange(tx, context, { action, kind, record_id: id })
  return rows.length
}

async function forgetValues(
  tx: Db,
  workspace_id: number,
  kind: 'contacts' | 'companies',
  ids: readonly number[],
) {
  const tags = kind === 'contacts' ? sql.ref('tags') : sql`'[]'`
  const { rows } = await sql<{ id: number; tags: string; custom_fields: string }>`
    SELECT id, ${tags} AS tags, custom_fields FROM ${sql.table(kind)}
    WHERE workspace_id = ${workspace_id} AND id IN (${idsOf(ids)})`.execute(tx)
  for (const { id, tags, custom_fields } of rows) {
    const values = { tags: JSON.parse(tags), custom_fields: JSON.parse(custom_fields) }
    await indexValues(tx, kind, workspace_id, id, values, {})
  }
}
