import { sql } from 'kysely'
import { type Db, transaction } from '../db/db.ts'
import { engineOf } from '../db/prepare.ts'
import { sortName } from '../db/sort-names.ts'
import { type Erasure, redactedFields, redactedTexts } from './redaction.ts'

/** The kinds of records that may be about a contact. */
export const linked_kinds = ['deals', 'activities', 'appointments'] as const
export type LinkedKind = (typeof linked_kinds)[number]

/** Ids of records of each kind; true for an appointment that a visitor booked. */
export type Linked = Record<LinkedKind, Map<number, boolean>>
export const noneLinked = (): Linked => ({ deals: new Map(), activities: new Map(), appointments: new Map() })

type Person = Omit<Erasure, 'by_visitor'>
type Row = Record<string, unknown> & { id: number; link_hash?: string | null }

const batch = 200

/**
 * Takes a person out of the texts of all records that refer to the contact, those in the trash too; returns which they
 * are. The references stay, so that it can be done again. Every one of them is locked on the way: what a change under
 * way has told of it is committed when this ends.
 */
export async function redactLinked(db: Db, workspace_id: number, person: Person): Promise<Linked> {
  const linked = noneLinked()
  for (const kind of linked_kinds)
    for (let after: number | null = 0; after !== null; )
      after = await transaction(db, (tx) =>
        redactSome(tx, workspace_id, kind, person, after as number, linked),
      )
  return linked
}

async function redactSome(
  tx: Db,
  workspace_id: number,
  kind: LinkedKind,
  person: Person,
  after: number,
  linked: Linked,
): Promise<number | null> {
  const { rows } = await sql<Row>`
    SELECT * FROM ${sql.table(kind)}
    WHERE workspace_id = ${workspace_id} AND contact_id = ${person.contact_id} AND id > ${after}
    ORDER BY id LIMIT ${batch} ${engineOf(tx) === 'postgres' ? sql`FOR NO KEY UPDATE` : sql``}`.execute(tx)
  for (const row of rows) {
    const by_visitor = Boolean(row.link_hash)
    linked[kind].set(row.id, by_visitor)
    const texts: Record<string, string | null> = redactedTexts(row, person.redact)
    if (by_visitor && row.notes !== null) texts.notes = null
    if (kind === 'deals' && texts.name) texts.sort_name = sortName(texts.name)
    const set = Object.entries(texts).map(([name, text]) => sql`${sql.ref(name)} = ${text}`)
    // Without a new updated_at: nobody has changed the record, and nobody is told.
    if (set.length)
      await sql`UPDATE ${sql.table(kind)} SET ${sql.join(set)}
        WHERE workspace_id = ${workspace_id} AND id = ${row.id}`.execute(tx)
  }
  return rows.length < batch ? null : (rows.at(-1)?.id ?? null)
}

/** Takes the person out of what the audit log tells of these records. */
export async function redactAudit(
  db: Db,
  workspace_id: number,
  linked: Linked,
  person: Person,
): Promise<void> {
  for (const kind of linked_kinds) {
    const all = [...linked[kind].keys()]
    for (let from = 0; from < all.length; from += batch)
      await transaction(db, async (tx) => {
        const entries = await tx
          .selectFrom('audit_log')
          .select(['id', 'record_id', 'before', 'after'])
          .where('workspace_id', '=', workspace_id)
          .where('kind', '=', kind)
          .where('record_id', 'in', all.slice(from, from + batch).map(String))
          .execute()
        for (const { id, record_id, ...sides } of entries) {
          const by_visitor = linked[kind].get(Number(record_id)) ?? false
          const without = (text: string | null) =>
            text && JSON.stringify(redactedFields(JSON.parse(text), { ...person, by_visitor }))
          const changed = { before: without(sides.before), after: without(sides.after) }
          if (changed.before === sides.before && changed.after === sides.after) continue
          await tx
            .updateTable('audit_log')
            .set(changed)
            .where('workspace_id', '=', workspace_id)
            .where('id', '=', id)
            .execute()
        }
      })
  }
}
