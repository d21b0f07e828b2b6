import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { recount } from '../../db/lists/counts.ts'
import { sortName } from '../../db/lists/sort-names.ts'
import { engineOf } from '../../db/statements/prepare.ts'
import { type Erasure, type LinkedKind, linked_kinds, redactedFields, redactedTexts } from './redaction.ts'
import type { Linked } from './references.ts'
import { entriesOf } from './slices.ts'

type Row = Record<string, unknown> & { id: number; type?: string; deleted_at: string | null }

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
  workspace_id: number,
  linked: Linked,
  erasure: Erasure,
): Promise<void> {
  for (const kind of linked_kinds)
    for (const ids of batches([...linked[kind].keys()].sort((a, b) => a - b)))
      await transaction(db, async (tx) => {
        const { rows } = await sql<Row>`
          SELECT * FROM ${sql.table(kind)}
          WHERE workspace_id = ${workspace_id} AND id IN (${sql.join(ids)})
          ORDER BY id ${engineOf(tx) === 'postgres' ? sql`FOR NO KEY UPDATE` : sql``}`.execute(tx)
        for (const row of rows) {
          const by_visitor = linked[kind].get(row.id) ?? false
          await redactRow(tx, workspace_id, kind, row, redactedTexts(row, erasure, { kind, by_visitor }))
        }
      })
}

async function redactRow(
  tx: Db,
  workspace_id: number,
  kind: LinkedKind,
  row: Row,
  texts: Record<string, string | null>,
): Promise<void> {
  const sorted = kind === 'deals' && texts.name ? { sort_name: sortName(texts.name) } : {}
  const set = Object.entries({ ...texts, ...sorted }).map(([name, text]) => sql`${sql.ref(name)} = ${text}`)
  if (!set.length) return
  // Without a new updated_at: nobody has changed the record, and nobody is told.
  await sql`UPDATE ${sql.table(kind)} SET ${sql.join(set)}
    WHERE workspace_id = ${workspace_id} AND id = ${row.id}`.execute(tx)
  // Live appointments are counted by their type.
  if (texts.type && row.deleted_at === null)
    await recount(tx, workspace_id, kind, ['type'], { type: row.type }, { type: texts.type })
}

/**
 * Takes the person out of what the audit log tells of these records. Those that visitors booked come last and all at once:
 * what they say the person was called is needed until nothing else is left to do.
 */
export async function redactAudit(
  db: Db,
  workspace_id: number,
  linked: Linked,
  erasure: Erasure,
): Promise<void> {
  const redact = (tx: Db, kind: LinkedKind, ids: readonly number[], by_visitor: boolean) =>
    redactEntries(tx, workspace_id, kind, ids, (fields) =>
      redactedFields(fields, erasure, { kind, by_visitor }),
    )
  const idsOf = (kind: LinkedKind, by_visitor: boolean) =>
    [...linked[kind]].flatMap(([id, visitors]) => (visitors === by_visitor ? [id] : []))
  for (const kind of linked_kinds)
    for (const ids of batches(idsOf(kind, false))) await transaction(db, (tx) => redact(tx, kind, ids, false))
  await transaction(db, async (tx) => {
    for (const ids of batches(idsOf('appointments', true))) await redact(tx, 'appointments', ids, true)
  })
}

async function redactEntries(
  tx: Db,
  workspace_id: number,
  kind: LinkedKind,
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
