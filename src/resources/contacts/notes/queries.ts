import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../../db/db.ts'
import { countRows } from '../../../db/lists/counts.ts'
import { pending_removal } from '../../../db/records.ts'
import { bytesOf, fitting } from '../../../db/sizes.ts'
import { prepare } from '../../../db/statements/prepare.ts'
import { type Row, selectionOf } from '../../selection.ts'
import { type Note, notes } from './resource.ts'

const { query, read } = selectionOf<Note>(notes, notes.columns)

type OfContact = { workspace_id: number; contact_id: number }

// Notes go to the trash and come back with their contact, so they are reached only through a live one.
const liveNotes = (db: Db, p: OfContact) =>
  db
    .selectFrom('notes')
    .innerJoin('contacts', (join) =>
      join
        .onRef('contacts.workspace_id', '=', 'notes.workspace_id')
        .onRef('contacts.id', '=', 'notes.contact_id')
        .on('contacts.deleted_at', 'is', null),
    )
    .where('notes.workspace_id', '=', p.workspace_id)
    .where('notes.contact_id', '=', p.contact_id)
    .where('notes.deleted_at', 'is', null)
const reachable = (db: Db, p: OfContact, condition: RawBuilder<SqlBool>) =>
  query(
    db,
    sql<SqlBool>`notes.workspace_id = ${p.workspace_id} AND notes.contact_id = ${p.contact_id} AND ${condition}
      AND notes.deleted_at IS NULL AND EXISTS (SELECT 1 FROM contacts WHERE workspace_id = ${p.workspace_id}
        AND id = ${p.contact_id} AND deleted_at IS NULL)`,
    sql`ORDER BY notes.id DESC`,
  )

const sizes = prepare((db, p: OfContact & { below: number; limit: number }) =>
  liveNotes(db, p)
    .select(['notes.id', bytesOf('body').as('bytes')])
    .where('notes.id', '<', p.below)
    .orderBy('notes.id', 'desc')
    .limit(p.limit),
)
const between = prepare<OfContact & { below: number; from: number }, Row>((db, p) =>
  reachable(db, p, sql`notes.id < ${p.below} AND notes.id >= ${p.from}`),
)
const byId = prepare<OfContact & { id: number }, Row>((db, p) => reachable(db, p, sql`notes.id = ${p.id}`))

// The names of the authors are the longest part of it.
const bytes_beside_body = 2500

/**
 * Measures the newest notes of a live contact below an id, up to `max_bytes` and `limit` notes. Returns their lowest id
 * (null without notes), their bytes, and whether there are more.
 */
export async function measureNotes(
  db: Db,
  { workspace_id, contact_id, below }: OfContact & { below: number },
  { limit, max_bytes }: { limit: number; max_bytes: number },
): Promise<{ from: number | null; bytes: number; more: boolean }> {
  const found = await sizes(db, { workspace_id, contact_id, below, limit: limit + 1 })
  const notes = found.slice(0, limit).map(({ bytes }) => ({ bytes: bytes + bytes_beside_body }))
  const { count, bytes } = fitting(notes, max_bytes)
  return { from: found[count - 1]?.id ?? null, bytes, more: count < found.length }
}

/** The notes of a live contact with ids from `from` to below `below`, newest first. */
export async function listNotes(
  db: Db,
  workspace_id: number,
  contact_id: number,
  { below, from }: { below: number; from: number },
): Promise<Note[]> {
  return (await between(db, { workspace_id, contact_id, below, from })).map(read)
}

/** The number of notes of a contact, without soft-deleted ones. */
export const countNotes = (db: Db, workspace_id: number, contact_id: number): Promise<number> =>
  countRows(
    db
      .selectFrom('notes')
      .where('workspace_id', '=', workspace_id)
      .where('contact_id', '=', contact_id)
      .where('deleted_at', 'is', null),
  )

/** Live notes by their ids, whose contacts are taken to be live. */
export async function notesByIds(db: Db, workspace_id: number, ids: number[]): Promise<Note[]> {
  const these = sql<SqlBool>`notes.workspace_id = ${workspace_id} AND notes.id IN (${sql.join(ids)})
    AND notes.deleted_at IS NULL`
  const { rows } = await db.executeQuery<Row>(query(db, these).compile())
  return rows.map(read)
}

/** A note of a live contact, or null. */
export async function findNote(
  db: Db,
  workspace_id: number,
  contact_id: number,
  id: number,
): Promise<Note | null> {
  const [note] = await byId(db, { workspace_id, contact_id, id })
  return note ? read(note) : null
}

/** Moves a live note to the trash (`deleted_at` set), or back (null). No shown field changes. */
export async function moveNote(
  tx: Db,
  workspace_id: number,
  id: number,
  deleted_at: string | null,
): Promise<void> {
  await tx
    .updateTable('notes')
    .set({ deleted_at })
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute()
}

/** Whether a note of a contact was moved to the trash by itself. */
export async function isNoteInTrash(
  tx: Db,
  workspace_id: number,
  contact_id: number,
  id: number,
): Promise<boolean> {
  const note = await tx
    .selectFrom('notes')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('contact_id', '=', contact_id)
    .where('id', '=', id)
    .where('deleted_at', '>', pending_removal.erasing)
    .executeTakeFirst()
  return note !== undefined
}
