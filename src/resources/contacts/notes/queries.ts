import type { Db } from '../../../db/db.ts'
import { countRows } from '../../../db/lists/counts.ts'
import { pending_removal } from '../../../db/records.ts'
import { bytesOf, fitting } from '../../../db/sizes.ts'
import { prepare } from '../../../db/statements/prepare.ts'
import type { Note } from './resource.ts'

const columns = ['notes.id', 'contact_id', 'body', 'notes.created_at', 'notes.updated_at'] as const

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
const reachable = (db: Db, p: OfContact) => liveNotes(db, p).select(columns)

const sizes = prepare((db, p: OfContact & { below: number; limit: number }) =>
  liveNotes(db, p)
    .select(['notes.id', bytesOf('body').as('bytes')])
    .where('notes.id', '<', p.below)
    .orderBy('notes.id', 'desc')
    .limit(p.limit),
)
const between = prepare((db, p: OfContact & { below: number; from: number }) =>
  reachable(db, p)
    .where('notes.id', '<', p.below)
    .where('notes.id', '>=', p.from)
    .orderBy('notes.id', 'desc'),
)
const byId = prepare((db, p: { workspace_id: number; contact_id: number; id: number }) =>
  reachable(db, p).where('notes.id', '=', p.id),
)

const bytes_beside_body = 200

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
export const listNotes = (
  db: Db,
  workspace_id: number,
  contact_id: number,
  { below, from }: { below: number; from: number },
): Promise<Note[]> => between(db, { workspace_id, contact_id, below, from })

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
export const notesByIds = (db: Db, workspace_id: number, ids: number[]): Promise<Note[]> =>
  db
    .selectFrom('notes')
    .select(columns)
    .where('workspace_id', '=', workspace_id)
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()

/** A note of a live contact, or null. */
export async function findNote(
  db: Db,
  workspace_id: number,
  contact_id: number,
  id: number,
): Promise<Note | null> {
  const [note] = await byId(db, { workspace_id, contact_id, id })
  return note ?? null
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
