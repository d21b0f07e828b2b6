import type { Db } from '../../../db/db.ts'
import { notFound } from '../../../errors.ts'
import { all_at_once_bytes, countFitting } from '../../../http/answers.ts'
import { endpoints } from '../../../http/endpoints.ts'
import { List } from '../../../http/envelope.ts'
import { IdParams, NoFields } from '../../../http/fields.ts'
import { decodeCursor, wholeAnswer } from '../../../http/lists.ts'
import { operation } from '../../../http/operation.ts'
import type { App } from '../../../http/server.ts'
import type { Service } from '../../../http/service.ts'
import type { Room } from '../../room.ts'
import { contactRecords } from '../operations.ts'
import {
  changeNote,
  createNote,
  deleteNote,
  existingNote,
  giveNote,
  max_notes,
  noteOperations,
  restoreNote,
} from './operations.ts'
import { countNotes, listNotes, measureNotes, notesByIds } from './queries.ts'
import { Note, NoteArchived, NoteCreate, NoteParams, NotesQuery, NoteUpdate, notes } from './resource.ts'

const { path } = notes
const reading = 'contacts:read'
const order = 'notes'
const beyond = Number.MAX_SAFE_INTEGER
// Notes of one answer; the rest comes by cursor.
const max_listed = 10_000

/** The notes of a contact. Listing them is the interface's; the rest extends it. No events: the catalogue has none. */
export const noteRoom: Room = {
  resource: notes,
  byIds: notesByIds,
  detailsByIds: notesByIds,
  give: giveNote,
  archived: { operations: noteOperations, batch: { create: NoteArchived, update: NoteUpdate, match: [] } },
  routes,
}

function routes(app: App, service: Service): void {
  const { db } = service
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: reading,
      summary: 'List all notes of a contact',
      description:
        'Newest first, all on one page. Above 7 MiB or 10,000 notes, the page has only the newest. Then `meta` has a `next_cursor` for the next page, and `total` counts all notes.',
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

  const records = endpoints(app, service, {
    path,
    owner_params: IdParams,
    params: NoteParams,
    reads: reading,
    writes: 'contacts:write',
    noun: 'note',
    extension: true,
  })
  records.create(
    {
      summary: 'Add a note to a contact',
      description: `409 above ${max_notes} notes of the contact. Notes in the trash do not count.`,
      body: NoteCreate,
      view: Note,
    },
    async (tx, context, { params: { id }, body, problems }) => {
      const record = await createNote(tx, context, id, body, problems)
      return { record, location: `/api/v1/contacts/${id}/notes/${record.id}` }
    },
  )
  records.read({ summary: 'Read a note', view: Note }, ({ access, params }) =>
    existingNote(db, access.workspace_id, params),
  )
  records.change(
    { summary: 'Change a note', body: NoteUpdate, view: Note },
    async (tx, context, { params, body, ...sent }) => ({
      record: await changeNote(tx, context, params, body, sent),
    }),
  )
  records.remove({ summary: 'Move a note to the trash' }, (tx, context, { params, expect }) =>
    deleteNote(tx, context, params, expect),
  )
  records.verb(
    {
      name: 'restore',
      summary: 'Restore a note from the trash',
      description: 'To restore a note of a contact in the trash, restore the contact.',
      body: NoFields,
      view: Note,
    },
    async (tx, context, { params, ...sent }) => ({ record: await restoreNote(tx, context, params, sent) }),
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
  const limits = { limit: max_listed, max_bytes: all_at_once_bytes }
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
