import type { Db } from '../../../db/db.ts'
import { notFound } from '../../../errors.ts'
import { all_at_once_bytes, countFitting } from '../../../http/answers.ts'
import { Deleted, deleted, List, Single } from '../../../http/envelope.ts'
import { checkMatch, sendRecord } from '../../../http/etag.ts'
import { IdParams, NoFields } from '../../../http/fields.ts'
import { decodeCursor, wholeAnswer } from '../../../http/lists.ts'
import { operation } from '../../../http/operation.ts'
import type { App } from '../../../http/server.ts'
import type { Service } from '../../../http/service.ts'
import type { Room } from '../../room.ts'
import { contactRecords } from '../operations.ts'
import { changeNote, createNote, deleteNote, existingNote, max_notes, restoreNote } from './operations.ts'
import { countNotes, listNotes, measureNotes, notesByIds } from './queries.ts'
import { Note, NoteCreate, NoteParams, NotesQuery, NoteUpdate, notes } from './resource.ts'

const { path } = notes
const note_path = `${path}/:note_id`
const reading = 'contacts:read'
const writing = 'contacts:write'
const order = 'notes'
const beyond = Number.MAX_SAFE_INTEGER
// Notes of one answer; the rest comes by cursor.
const max_listed = 10_000

/** The notes of a contact. Listing them is the interface's; the rest extends it. No events: the catalogue has none. */
export const noteRoom: Room = { resource: notes, byIds: notesByIds, routes }

function routes(app: App, { db, write }: Service): void {
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: reading,
      summary: 'List all notes of a contact',
      description:
        'Newest first, all on one page. Of more than 7 MiB, or 10,000 notes, the newest: then `meta` has a `next_cursor`, where to go on, and `total` counts all.',
      params: IdParams,
      query: NotesQuery,
      answers: { 200: List(Note) },
      extension: false,
    },
    async ({ access, params: { id }, query: { cursor } }, reply) => {
      const { workspace_id } = access
      const [below = beyond] = (cursor && decodeCursor(order, cursor, ['number'])) || []
      const range = { workspace_id, contact_id: id, below: Number(below) }
      const page = await notesBelow(db, range, (bytes) => reply.reserve(bytes))
      if (!page.notes.length && !(await contactRecords.find(db, workspace_id, id)))
        throw notFound('This contact')
      const place = { cursor, order, next: page.next === null ? null : [page.next] }
      return wholeAnswer(page.notes, place, () => countNotes(db, workspace_id, id))
    },
  )

  operation(
    app,
    {
      method: 'POST',
      path,
      scope: writing,
      summary: 'Add a note to a contact',
      description: `A contact has at most ${max_notes}; beyond, 409. Those in the trash do not count.`,
      params: IdParams,
      body: NoteCreate,
      answers: { 201: Single(Note) },
      extension: true,
      repeatable: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { id } = request.params
        const record = await createNote(tx, context, id, request.body, problems)
        return { record, location: `/api/v1/contacts/${id}/notes/${record.id}` }
      }),
  )

  operation(
    app,
    {
      method: 'GET',
      path: note_path,
      scope: reading,
      summary: 'Read a note',
      params: NoteParams,
      answers: { 200: Single(Note) },
      extension: true,
      conditional: true,
    },
    async (request, reply) =>
      sendRecord(request, reply, await existingNote(db, request.access.workspace_id, request.params)),
  )

  operation(
    app,
    {
      method: ['PUT', 'PATCH'],
      path: note_path,
      scope: writing,
      summary: 'Change a note',
      params: NoteParams,
      body: NoteUpdate,
      answers: { 200: Single(Note) },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const expect = (record: object) => checkMatch(request, record)
        const sent = { problems, expect }
        return { record: await changeNote(tx, context, request.params, request.body, sent) }
      }),
  )

  operation(
    app,
    {
      method: 'DELETE',
      path: note_path,
      scope: writing,
      summary: 'Move a note to the trash',
      params: NoteParams,
      answers: { 200: Deleted },
      extension: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        await deleteNote(tx, context, request.params, (record) => checkMatch(request, record))
        return { body: deleted('The note') }
      }),
  )

  operation(
    app,
    {
      method: 'POST',
      path: `${note_path}/restore`,
      scope: writing,
      summary: 'Restore a note from the trash',
      description: 'A note of a contact in the trash comes back with its contact.',
      params: NoteParams,
      body: NoFields,
      answers: { 200: Single(Note) },
      extension: true,
      repeatable: true,
      guarded: true,
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const expect = (record: object) => checkMatch(request, record)
        return { record: await restoreNote(tx, context, request.params, { problems, expect }) }
      }),
  )
}

type NotesBelow = { workspace_id: number; contact_id: number; below: number }

/**
 * The newest notes below an id, as many as one answer may have; `next` is the id below which the rest is. `reserve` gets
 * their bytes before they are read.
 */
async function notesBelow(
  db: Db,
  range: NotesBelow,
  reserve: (bytes: number) => void,
): Promise<{ notes: Note[]; next: number | null }> {
  const limits = { limit: max_listed, most_bytes: all_at_once_bytes }
  const { from, bytes, more } = await measureNotes(db, range, limits)
  if (from === null) return { notes: [], next: null }
  reserve(bytes)
  const { workspace_id, contact_id, below } = range
  const notes = await listNotes(db, workspace_id, contact_id, { below, from })
  // As JSON a character may take six times its bytes.
  const room = bytes * 6 > all_at_once_bytes ? countFitting(notes) : notes.length
  const shown = notes.slice(0, room)
  if (room < notes.length) return { notes: shown, next: shown.at(-1)?.id ?? null }
  return { notes: shown, next: more ? from : null }
}
