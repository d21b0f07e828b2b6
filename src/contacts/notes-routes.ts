import type { Db } from '../db/db.ts'
import { lockRow } from '../db/locks.ts'
import { isLive } from '../db/references.ts'
import { factsOf, recordChange } from '../events/audit.ts'
import { Deleted, deleted, List, list, Single } from '../http/envelope.ts'
import { invalid, notFound } from '../http/errors.ts'
import { checkMatch, sendRecord } from '../http/etag.ts'
import { IdParams } from '../http/fields.ts'
import { changesOf } from '../http/patch.ts'
import type { App } from '../http/server.ts'
import type { Writer } from '../http/write.ts'
import { findNote, insertNote, listNotes, updateNote } from './notes-queries.ts'
import { Note, NoteCreate, NoteParams, NotesQuery, NoteUpdate, note_fields } from './notes-schema.ts'
import { findContact } from './queries.ts'

const path = '/api/v1/contacts/:id/notes'
const reading = { config: { scope: 'contacts:read' } }
const writing = { config: { scope: 'contacts:write' } }
const extension = { 'x-extension': true }

/** The notes of a contact. Reading them all is the interface's; the rest extends it. No events: the catalogue has none. */
export function noteRoutes(app: App, { db, write }: { db: Db; write: Writer }): void {
  app.get(
    path,
    {
      ...reading,
      schema: {
        summary: 'List all notes of a contact',
        description: 'Newest first, on one page.',
        params: IdParams,
        querystring: NotesQuery,
        response: { 200: List(Note) },
      },
    },
    async (request) => {
      const { workspace_id } = request.access
      const { id } = request.params
      const notes = await listNotes(db, workspace_id, id)
      if (!notes.length && !(await findContact(db, workspace_id, id))) throw notFound('This contact')
      return list(notes, notes.length, { page: 1, per_page: Math.max(1, notes.length) })
    },
  )

  app.post(
    path,
    {
      ...writing,
      schema: {
        ...extension,
        summary: 'Add a note to a contact',
        params: IdParams,
        body: NoteCreate,
        response: { 201: Single(Note) },
      },
    },
    (request, reply) =>
      write(request, reply, async (tx, context, problems) => {
        const { workspace_id } = context
        const { id: contact_id } = request.params
        if (!(await isLive(tx, 'contacts', workspace_id, contact_id))) throw notFound('This contact')
        if (problems.length) throw invalid(problems)
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
        await updateNote(tx, workspace_id, note_id, now, { body })
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
        summary: 'Delete a note',
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
        await updateNote(tx, workspace_id, note_id, now, { deleted_at: now })
        await recordChange(tx, context, { ...change('deleted', note_id), before: factsOf(record) })
        return { body: deleted('The note') }
      }),
  )
}

const change = (action: string, record_id: number) => ({ action, kind: 'notes', record_id })

async function existing(db: Db, workspace_id: number, contact_id: number, id: number): Promise<Note> {
  const note = await findNote(db, workspace_id, contact_id, id)
  if (!note) throw notFound('This note')
  return note
}
