import { sql } from 'kysely'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import type { Resource } from '../../resources/resource.ts'
import { forgetValues } from '../trash/removal.ts'
import { linkedResources, redactedFields, visitorFields, withoutVisitor } from './redaction.ts'
import type { LinkedIds } from './references.ts'
import { batchesOf, entriesOf } from './slices.ts'

/**
 * Removes what visitors wrote from the records that they booked, also in the trash, and from the audit entries. The
 * references stay, so it can be repeated. It locks all linked records. A change in flight may emit an event that shows
 * the contact: its commit comes before this function returns.
 */
export async function redactLinked(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
  linked: LinkedIds,
  contact_id: number,
): Promise<void> {
  for (const resource of linkedResources(resources)) {
    const booked_by_id = linked.get(resource.table) ?? new Map<number, boolean>()
    const ordered = [...booked_by_id.keys()].sort((a, b) => a - b)
    for (const ids of batchesOf(ordered))
      await transaction(db, async (tx) => {
        if (tx.engine === 'postgres')
          await sql`SELECT id FROM ${sql.table(resource.table)}
            WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)})
            ORDER BY id FOR NO KEY UPDATE`.execute(tx)
        const booked = ids.filter((id) => booked_by_id.get(id))
        if (booked.length) await redactBooked(tx, resource, workspace_id, booked, contact_id)
      })
  }
}

async function redactBooked(
  tx: Tx,
  resource: Resource,
  workspace_id: number,
  ids: readonly number[],
  contact_id: number,
): Promise<void> {
  const { table } = resource
  const names = visitorFields(resource)
  const empty = names.map((name) => {
    const value = withoutVisitor(resource, name)
    return sql`${sql.ref(name)} = ${value && JSON.stringify(value)}`
  })
  await forgetValues(tx, workspace_id, resource, ids, names)
  // The sort values and unique values of their custom fields.
  await sql`DELETE FROM defined_values WHERE workspace_id = ${workspace_id} AND record_id IN (${sql.join(ids)})
    AND definition_id IN (SELECT id FROM field_definitions WHERE workspace_id = ${workspace_id} AND kind = ${table})`.execute(
    tx,
  )
  // Keep updated_at: no person changed the record.
  await sql`UPDATE ${sql.table(table)} SET ${sql.join(empty)}
    WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)})`.execute(tx)
  const side = (text: string | null) =>
    text && JSON.stringify(redactedFields(JSON.parse(text), contact_id, { resource, booked: true }))
  for await (const some of entriesOf(tx, workspace_id, table, ids)) {
    const entries = await tx
      .selectFrom('audit_log')
      .select(['id', 'before', 'after'])
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', some)
      .execute()
    for (const { id, before, after } of entries) {
      const changed = { before: side(before), after: side(after) }
      if (changed.before === before && changed.after === after) continue
      await tx
        .updateTable('audit_log')
        .set(changed)
        .where((eb) => eb.and({ workspace_id, id }))
        .execute()
    }
  }
}
