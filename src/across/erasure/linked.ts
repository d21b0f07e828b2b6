import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { indexValues, type Valued } from '../../db/lists/field-values.ts'
import { searchText } from '../../db/lists/search.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import { countedFields, type Resource } from '../../resources/resource.ts'
import { type About, type Erasure, linkedResources, redactedFields, redactedTexts } from './redaction.ts'
import type { Linked } from './references.ts'
import { entriesOf } from './slices.ts'

type Row = Record<string, unknown> & { id: number; deleted_at: string | null }

const batch = 200
const batches = (ids: readonly number[]) =>
  Array.from({ length: Math.ceil(ids.length / batch) }, (_, i) => ids.slice(i * batch, (i + 1) * batch))

/**
 * Takes a person out of the texts of all records that refer to the contact or did once, those in the trash too. The
 * references stay, so that it can be done again. Every one of them is locked on the way: what a change under way has told
 * of it is committed when this ends.
 */
export async function redactLinked(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
  linked: Linked,
  erasure: Erasure,
): Promise<void> {
  for (const resource of linkedResources(resources)) {
    const of_resource = linked.get(resource.table) ?? new Map()
    for (const ids of batches([...of_resource.keys()].sort((a, b) => a - b)))
      await transaction(db, async (tx) => {
        const { rows } = await sql<Row>`
          SELECT * FROM ${sql.table(resource.table)}
          WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)})
          ORDER BY id ${engineOf(tx) === 'postgres' ? sql`FOR NO KEY UPDATE` : sql``}`.execute(tx)
        for (const row of rows) {
          const about = { resource, by_visitor: of_resource.get(row.id) ?? false }
          await redactRow(tx, workspace_id, row, erasure, about)
        }
      })
  }
}

async function redactRow(
  tx: Db,
  workspace_id: number,
  row: Row,
  erasure: Erasure,
  about: About,
): Promise<void> {
  const { table, columns, sort_name, search_text } = about.resource
  const encoded = Object.keys(columns).filter((name) => columns[name]?.encoding === 'json')
  const before: Record<string, unknown> = { ...row }
  for (const name of encoded) before[name] = JSON.parse(String(row[name]))
  const changed = redactedTexts(before, erasure, about)
  const names = Object.keys(changed)
  if (!names.length) return
  const after = { ...before, ...changed }
  const set = names.map((name) => {
    const value = encoded.includes(name) ? JSON.stringify(after[name]) : after[name]
    return sql`${sql.ref(name)} = ${value}`
  })
  const textsOf = (fields: readonly string[]) => fields.map((name) => String(after[name] ?? ''))
  if (sort_name.some((name) => name in changed)) set.push(sql`sort_name = ${sortName(...textsOf(sort_name))}`)
  if (search_text.some((name) => name in changed))
    set.push(sql`search_text = ${searchText(textsOf(search_text))}`)
  // Without a new updated_at: nobody has changed the record, and nobody is told.
  await sql`UPDATE ${sql.table(table)} SET ${sql.join(set)}
    WHERE workspace_id = ${workspace_id} AND id = ${row.id}`.execute(tx)
  if ('tags' in changed || 'custom_fields' in changed)
    await indexValues(tx, table as Valued, workspace_id, row.id, valuesOf(before), valuesOf(after))
  // Live records are counted by some texts, such as the type of an appointment.
  const counted = countedFields(about.resource).filter((name) => name in changed)
  if (counted.length && row.deleted_at === null)
    await recount(tx, workspace_id, table, counted, before, after)
}

const valuesOf = ({ tags, custom_fields }: { tags?: unknown; custom_fields?: unknown }) =>
  ({ tags, custom_fields }) as Parameters<typeof indexValues>[4]

/**
 * Takes the person out of what the audit log tells of these records. Those that visitors booked come last and all at once:
 * what they say the person was called is needed until nothing else is left to do.
 */
export async function redactAudit(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
  linked: Linked,
  erasure: Erasure,
): Promise<void> {
  const redact = (tx: Db, about: About, ids: readonly number[]) =>
    redactEntries(tx, workspace_id, about.resource.table, ids, (fields) =>
      redactedFields(fields, erasure, about),
    )
  const idsOf = (kind: string, by_visitor: boolean) =>
    [...(linked.get(kind) ?? [])].flatMap(([id, visitors]) => (visitors === by_visitor ? [id] : []))
  for (const resource of linkedResources(resources))
    for (const ids of batches(idsOf(resource.table, false)))
      await transaction(db, (tx) => redact(tx, { resource, by_visitor: false }, ids))
  await transaction(db, async (tx) => {
    for (const resource of linkedResources(resources))
      for (const ids of batches(idsOf(resource.table, true)))
        await redact(tx, { resource, by_visitor: true }, ids)
  })
}

async function redactEntries(
  tx: Db,
  workspace_id: number,
  kind: string,
  ids: readonly number[],
  without: (fields: Record<string, unknown>) => object,
): Promise<void> {
  const side = (text: string | null) => text && JSON.stringify(without(JSON.parse(text)))
  for await (const some of entriesOf(tx, workspace_id, kind, ids)) {
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
        .where('workspace_id', '=', workspace_id)
        .where('id', '=', id)
        .execute()
    }
  }
}
