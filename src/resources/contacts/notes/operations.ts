import type { Db } from '../../../db/db.ts'
import { lockRow } from '../../../db/locks.ts'
import { isLive } from '../../../db/references.ts'
import { type FieldProblem, notFound, refuse, refuseMore } from '../../../errors.ts'
import type { Context } from '../../../events/context.ts'
import { notifyMentioned } from '../../../events/mentions.ts'
import { changedValues, newValues } from '../../input.ts'
import {
  addRecord,
  auditRecord,
  type Expect,
  lockRecord,
  type Operations,
  type Sent,
  saveChanges,
} from '../../operations.ts'
import { recordsOf } from '../../records.ts'
import { countNotes, findNote, isNoteInTrash, moveNote, notesByIds } from './queries.ts'
import { type Note, type NoteBody, notes } from './resource.ts'

/** Live notes that a contact can have. Contacts of earlier versions may have more. */
export const max_notes = 1000

const noteRecords = recordsOf<Note, Note, NoteBody>(notes)

/** The contact of a note, and the note. */
export type NoteKey = { id: number; note_id: number }

/** A note of a live contact, or 404. */
export async function existingNote(db: Db, workspace_id: number, { id, note_id }: NoteKey): Promise<Note> {
  const note = await findNote(db, workspace_id, id, note_id)
  if (!note) throw notFound('This note')
  return note
}

/** Adds a note to a live contact. 409 beyond 1000 live notes; the catalogue has no event for it. */
export async function createNote(
  tx: Db,
  context: Context,
  contact_id: number,
  body: NoteBody,
  problems: readonly FieldProblem[],
): Promise<Note> {
  const { workspace_id } = context
  await lockContact(tx, workspace_id, contact_id, 'This contact')
  refuse(problems)
  await refuseManyNotes(tx, workspace_id, contact_id)
  const note = await addRecord(tx, context, noteRecords, newValues(notes, body) as NoteBody, { contact_id })
  await notifyMentioned(tx, context, { kind: 'contacts', id: contact_id }, note)
  return note
}

/** Changes the text of a note. */
export async function changeNote(
  tx: Db,
  context: Context,
  key: NoteKey,
  body: NoteBody,
  { problems, expect }: Sent,
): Promise<Note> {
  const before = await lockNote(tx, context.workspace_id, key, expect)
  refuse(problems)
  const values = changedValues(notes, body, before) as Partial<NoteBody>
  const { after } = await saveChanges(tx, context, noteRecords, before, values)
  await notifyMentioned(tx, context, { kind: 'contacts', id: key.id }, after, before.body)
  return after
}

/** Moves a note to the trash by itself. */
export async function deleteNote(tx: Db, context: Context, key: NoteKey, expect: Expect): Promise<void> {
  const { workspace_id } = context
  const note = await lockNote(tx, workspace_id, key, expect)
  // The context reads the clock here, not before the lock.
  await moveNote(tx, workspace_id, note.id, context.now)
  auditRecord(tx, context, 'deleted', notes, note)
}

/** Brings a note back that was deleted by itself. A note of a deleted contact comes back with its contact. */
export async function restoreNote(
  tx: Db,
  context: Context,
  key: NoteKey,
  { problems, expect }: Sent,
): Promise<Note> {
  const { workspace_id } = context
  const { id, note_id } = key
  await lockContact(tx, workspace_id, id, 'This note')
  await lockRow(tx, 'notes', workspace_id, note_id)
  const live = await findNote(tx, workspace_id, id, note_id)
  if (live) {
    expect(live)
    return live
  }
  if (!(await isNoteInTrash(tx, workspace_id, id, note_id))) throw notFound('This note')
  refuse(problems)
  await refuseManyNotes(tx, workspace_id, id)
  await moveNote(tx, workspace_id, note_id, null)
  const note = await existingNote(tx, workspace_id, key)
  auditRecord(tx, context, 'restored', notes, note)
  return note
}

/** Gives a note to another contact, in the trash too, if the note is live. The audit log keeps both. */
export async function giveNote(tx: Db, context: Context, id: number, contact_id: number): Promise<Note> {
  const before = await lockRecord(tx, context, noteRecords, id)
  return (await saveChanges(tx, context, noteRecords, before, {}, { set: { contact_id } })).after
}

/** The same by the id of the note alone, for callers that know no resource by name. */
export const noteOperations: Operations<Note> = {
  create(tx, context, { contact_id, ...body }: NoteBody & { contact_id?: number }, problems) {
    refuse(problems)
    return createNote(tx, context, contact_id as number, body, problems)
  },
  change: async (tx, context, id, body, sent) =>
    changeNote(tx, context, await keyOf(tx, context, id), body, sent),
  async remove(tx, context, id, expect) {
    const key = await keyOf(tx, context, id)
    const note = await existingNote(tx, context.workspace_id, key)
    await deleteNote(tx, context, key, expect)
    return note
  },
  async restore() {
    throw notFound('This note')
  },
}

async function keyOf(tx: Db, { workspace_id }: Context, note_id: number): Promise<NoteKey> {
  const [note] = await notesByIds(tx, workspace_id, [note_id])
  if (!note) throw notFound('This note')
  return { id: note.contact_id, note_id }
}

async function lockNote(tx: Db, workspace_id: number, key: NoteKey, expect: Expect): Promise<Note> {
  await lockRow(tx, 'notes', workspace_id, key.note_id)
  const note = await existingNote(tx, workspace_id, key)
  expect(note)
  return note
}

/** Locks a live contact, so that concurrent notes are counted one after another; 404 without it. */
async function lockContact(tx: Db, workspace_id: number, id: number, missing: string): Promise<void> {
  await lockRow(tx, 'contacts', workspace_id, id)
  if (!(await isLive(tx, 'contacts', workspace_id, id))) throw notFound(missing)
}

async function refuseManyNotes(tx: Db, workspace_id: number, contact_id: number): Promise<void> {
  const count = await countNotes(tx, workspace_id, contact_id)
  refuseMore(
    'too_many_notes',
    count,
    max_notes,
    `A contact has at most ${max_notes} notes`,
    'Delete one first.',
  )
}
