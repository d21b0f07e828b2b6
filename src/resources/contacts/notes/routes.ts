import type { Db } from '../../../db/db.ts'
import { lockRow } from '../../../db/locks.ts'
import { isLive } from '../../../db/references.ts'
import { factsOf, recordChange } from '../../../events/audit.ts'
import { all_at_once_bytes, countFitting } from '../../../http/answers.ts'
import { Deleted, deleted, List, Single } from '../../../http/envelope.ts'
import { invalid, notFound } from '../../../http/errors.ts'
import { checkMatch, sendRecord } from '../../../http/etag.ts'
import { IdParams, NoFields } from '../../../http/fields.ts'
import { refuseMore } from '../../../http/limits.ts'
import { decodeCursor, wholeAnswer } from '../../../http/lists.ts'
import { changesOf } from '../../../http/patch.ts'
import type { App } from '../../../http/server.ts'
import type { Writer } from '../../../http/write.ts'
import { findContact } from '../queries.ts'
import {
  countNotes,
  findNote,
  insertNote,
  isNoteInTrash,
  listNotes,
  measureNotes,
  moveNote,
  updateNote,
} from './queries.ts'
import { Note, NoteCreate, NoteParams, NotesQuery, NoteUpdate, note_fields } from './resource.ts'

const path = '/api/v1/contacts/:id/notes'
const reading = { config: { scope: 'contacts:read' } }
const writing = { config: { scope: 'contacts:write' } }
const extension = { 'x-extension': true }
// A contact can have so many; older ones may have more.
const most_notes = 1000
const order = 'notes'
const beyond = Number.MAX_SAFE_INTEGER
// Of one answer: the rest comes by cursor.
const most_listed = 10_000

/** The notes of a contact. Reading them all is the interface's; the rest extends it. No events: the catalogue has none. */
export function noteRoutes(app: App, { db, write }: { db: Db; write: Writer }): void {
  app.get(
    path,
    {
      ...reading,
      schema: {
        summary: 'List all notes of a contact',
        description:
          'Newest first, all on one page. Of more than 7 MiB, or 10,000 notes, the newest: then `meta` has a `next_cursor`, where to go on, and `total` counts all.',
        params: IdParams,
        querystring: NotesQuery,
        response: { 200: List(Note) },
      },
    },
    async (request, reply) => {
      const { workspace_id } = request.access
      const { id } = request.params
      const { cursor } = request.query
      const [below = beyond] = (cursor && decodeCursor(order, cursor, ['number'])) || []
      const of = { workspace_id, contact_id: id, below: Number(below) }
      const { notes, next } = await notesBelow(of, (bytes) => reply.reserve(bytes))
      if (!notes.length && !(await findContact(db, workspace_id, id))) throw notFound('This contact')
      const place = { cursor, order, next: next === null ? null : [next] }
      return wholeAnswer(notes, place, () => countNotes(db, workspace_id, id))
    },
  )

  /**
   * The newest notes below an id, as many as one answer may have; `next` is the id to go on below. `reserve` is told their
   * bytes before they are read.
   */
  async function notesBelow(
    of: { workspace_id: number; contact_id: number; below: number },
    reserve: (bytes: number) => void,
  ) {
    const limits = { limit: most_listed, most_bytes: all_at_once_bytes }
    const { from, bytes, more } = await measureNotes(db, of, limits)
    if (from === null) return { notes: [], next: null }
    reserve(bytes)
    const notes = await listNotes(db, of.workspace_id, of.contact_id, { below: of.below, from })
    // As JSON a character may take six times its bytes.
    const room = bytes * 6 > all_at_once_bytes ? countFitting(notes) : notes.length
    const shown = notes.slice(0, room)
    if (room < notes.length) return { notes: shown, next: shown.at(-1)?.id ?? null }
    return { notes: shown, next: more ? from : null }
  }

  app.post(
    path,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Add a note to a contact',
        description: `A contact has at most ${most_notes}; beyond, 409. Those in the trash do not count.`,
        params: IdParams,
        body: NoteCreate,
        response: { 201: Single(Note) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { id: contact_id } = request.params
        await holdContact(tx, workspace_id, contact_id, 'This contact')
        if (problems.length) throw invalid(problems)
        await refuseManyNotes(tx, workspace_id, contact_id)
        const { body = '' } = request.body
        const id = await insertNote(tx, workspace_id, context.now, { contact_id, body })
        const record = await existing(tx, workspace_id, contact_id, id)
        await recordChange(tx, context, { ...change('created', id), after: factsOf(record) })
        return { record, location: `/api/v1/contacts/${contact_id}/notes/${id}` }
      }),
  )

  app.get(
    `${path}/:note_id`,
    {
      ...reading,
      schema: {
        ...extension,
        summary: 'Read a note',
        params: NoteParams,
        response: { 200: Single(Note) },
      },
    },
    async (request, reply) => {
      const { id, note_id } = request.params
      return sendRecord(request, reply, await existing(db, request.access.workspace_id, id, note_id))
    },
  )

  app.route({
    method: ['PUT', 'PATCH'],
    url: `${path}/:note_id`,
    ...writing,
    schema: {
      ...extension,
      summary: 'Change a note',
      params: NoteParams,
      body: NoteUpdate,
      response: { 200: Single(Note) },
    },
    handler: (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { id, note_id } = request.params
        await lockRow(tx, 'notes', workspace_id, note_id)
        const { now } = context
        const before = await existing(tx, workspace_id, id, note_id)
        checkMatch(request, before)
        if (problems.length) throw invalid(problems)
        const { body } = changesOf(request.body, before, note_fields)
        if (body === undefined) return { record: before }
        await updateNote(tx, workspace_id, note_id, now, body)
        await recordChange(tx, context, {
          ...change('updated', note_id),
          before: { body: before.body },
          after: { body },
        })
        return { record: await existing(tx, workspace_id, id, note_id) }
      }),
  })

  app.delete(
    `${path}/:note_id`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Move a note to the trash',
        params: NoteParams,
        response: { 200: Deleted },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context) => {
        const { workspace_id } = context
        const { id, note_id } = request.params
        await lockRow(tx, 'notes', workspace_id, note_id)
        const { now } = context
        const record = await existing(tx, workspace_id, id, note_id)
        checkMatch(request, record)
        await moveNote(tx, workspace_id, note_id, now)
        await recordChange(tx, context, { ...change('deleted', note_id), before: factsOf(record) })
        return { body: deleted('The note') }
      }),
  )

  app.post(
    `${path}/:note_id/restore`,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Restore a note from the trash',
        description: 'A note of a contact in the trash comes back with its contact.',
        params: NoteParams,
        body: NoFields,
        response: { 200: Single(Note) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { id, note_id } = request.params
        await holdContact(tx, workspace_id, id, 'This note')
        await lockRow(tx, 'notes', workspace_id, note_id)
        const live = await findNote(tx, workspace_id, id, note_id)
        if (live) {
          checkMatch(request, live)
          return { record: live }
        }
        if (!(await isNoteInTrash(tx, workspace_id, id, note_id))) throw notFound('This note')
        if (problems.length) throw invalid(problems)
        await refuseManyNotes(tx, workspace_id, id)
        await moveNote(tx, workspace_id, note_id, null)
        const record = await existing(tx, workspace_id, id, note_id)
        await recordChange(tx, context, { ...change('restored', note_id), after: factsOf(record) })
        return { record }
      }),
  )
}

/** Keeps a live contact, so that its notes come one after another and their limit is exact; 404 without it. */
async function holdContact(tx: Db, workspace_id: number, id: number, missing: string): Promise<void> {
  await lockRow(tx, 'contacts', workspace_id, id)
  if (!(await isLive(tx, 'contacts', workspace_id, id))) throw notFound(missing)
}

async function refuseManyNotes(tx: Db, workspace_id: number, contact_id: number): Promise<void> {
  const count = await countNotes(tx, workspace_id, contact_id)
  refuseMore(count, most_notes, `A contact has at most ${most_notes} notes`, 'Delete one first.')
}

const change = (action: string, record_id: number) => ({ action, kind: 'notes', record_id })

async function existing(db: Db, workspace_id: number, contact_id: number, id: number): Promise<Note> {
  const note = await findNote(db, workspace_id, contact_id, id)
  if (!note) throw notFound('This note')
  return note
}
