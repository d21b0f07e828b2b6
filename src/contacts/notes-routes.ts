import type { Db } from '../db/db.ts'
import { lockRow } from '../db/locks.ts'
import { isLive } from '../db/references.ts'
import { factsOf, recordChange } from '../events/audit.ts'
import { Deleted, deleted, List, list, Single } from '../http/envelope.ts'
import { invalid, notFound } from '../http/errors.ts'
import { checkMatch, sendRecord } from '../http/etag.ts'
import { IdParams, NoFields } from '../http/fields.ts'
import { refuseMore } from '../http/limits.ts'
import { changesOf } from '../http/patch.ts'
import type { App } from '../http/server.ts'
import type { Writer } from '../http/write.ts'
import {
  countNotes,
  findNote,
  insertNote,
  isNoteInTrash,
  listNotes,
  moveNote,
  updateNote,
} from './notes-queries.ts'
import { Note, NoteCreate, NoteParams, NotesQuery, NoteUpdate, note_fields } from './notes-schema.ts'
import { findContact } from './queries.ts'

const path = '/api/v1/contacts/:id/notes'
const reading = { config: { scope: 'contacts:read' } }
const writing = { config: { scope: 'contacts:write' } }
const extension = { 'x-extension': true }
// They are read all at once.
const most_notes = 1000

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
