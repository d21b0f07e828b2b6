import type { Db } from '../../db/db.ts'
import { isLive } from '../../db/references.ts'
import { notFound } from '../../errors.ts'
import { all_at_once_bytes, page_bytes } from '../../http/answers.ts'
import { endpoints } from '../../http/endpoints.ts'
import { List, sendText } from '../../http/envelope.ts'
import { refuseMatch, sendRecord } from '../../http/etag.ts'
import { IdParams, NoFields } from '../../http/fields.ts'
import { decodeCursor, encodeCursor, wholeMeta } from '../../http/lists.ts'
import { operation } from '../../http/operation.ts'
import type { App } from '../../http/server.ts'
import type { Service } from '../../http/service.ts'
import type { Room } from '../room.ts'
import { type HistoryPlace, max_versions, noteHistory } from './history-queries.ts'
import { companyNotes, contactNotes, dealNotes, max_notes, type Notes } from './operations.ts'
import { NoteParams, NotesQuery } from './resource.ts'
import { NoteVersion } from './schema.ts'

const order = 'notes'
const history_order = 'note_history'
const beyond = Number.MAX_SAFE_INTEGER
// Notes of one answer; the rest comes by cursor.
const max_listed = 10_000

function roomOf(notes: Notes): Room {
  const { kind, records, give, by_id } = notes
  const { archived: create, update } = kind
  return {
    ...records,
    give,
    archived: { operations: by_id, batch: { create, update, match: [] } },
    routes: (app, service) => routes(app, service, notes),
  }
}

/** The notes of contacts. Listing them is the interface's; the rest extends it. */
export const contactNoteRoom = roomOf(contactNotes)
/** The notes of companies: an extension of the interface. */
export const companyNoteRoom = roomOf(companyNotes)
/** The notes of deals: an extension of the interface. */
export const dealNoteRoom = roomOf(dealNotes)

function routes(app: App, service: Service, notes: Notes): void {
  const { db, reading } = service
  const { of, noun, resource, view, create, update } = notes.kind
  const { path, scope } = resource
  const reads = `${scope}:read`
  operation(
    app,
    {
      method: 'GET',
      path,
      scope: reads,
      summary: `List all notes of a ${noun}`,
      description:
        'Newest first, all on one page. Above 7 MiB or 10,000 notes, the page has only the newest. Then `meta` has a `next_cursor` for the next page, and `total` counts all notes.',
      params: IdParams,
      query: NotesQuery,
      answers: { 200: List(view) },
      extension: of !== 'contacts',
    },
    async ({ access, params: { id }, query: { cursor } }, reply) => {
      const owner = { workspace_id: access.workspace_id, owner_id: id }
      const [below = beyond] = decodeCursor(order, cursor, ['number']) ?? []
      const page = await notesBelow(db, notes, { ...owner, below: Number(below) }, (bytes) =>
        reply.reserve(bytes),
      )
      if (!page.notes.length && !(await isLive(db, of, owner.workspace_id, id)))
        throw notFound(`This ${noun}`)
      const place = { cursor, order, next: page.next === null ? null : [page.next] }
      const meta = await wholeMeta(page.notes.length, place, () => notes.queries.count(db, owner))
      return sendText(reply, `[${page.notes.join()}]`, meta)
    },
  )

  const records = endpoints(app, service, {
    path,
    owner_params: IdParams,
    params: NoteParams,
    reads,
    writes: `${scope}:write`,
    noun: 'note',
  })
  records.create(
    {
      summary: `Add a note to a ${noun}`,
      description: `409 above ${max_notes} notes of the ${noun}. Notes in the trash do not count.`,
      body: create,
      view,
    },
    async (tx, context, { request, params: { id }, body, problems }) => {
      const record = await notes.create(tx, context, id, body, problems)
      refuseMatch(request)
      return { record, location: `${path.replace(':id', String(id))}/${record.id}` }
    },
  )
  records.read(
    { summary: 'Read a note', view },
    ({ access: { workspace_id }, params: { id, note_id } }) =>
      notes.queries.text(db, { workspace_id, owner_id: id, id: note_id }),
    (request, reply, record) => sendRecord(request, reply, record, record.text),
  )
  operation(
    app,
    {
      method: 'GET',
      path: `${path}/:note_id/history`,
      scope: reads,
      summary: 'List the texts that a note has had',
      description: `The present text first, then the earlier ones, from the audit log, as far back as \`AUDIT_LOG_DAYS\` keeps it. A page has at most ${max_versions} texts, and ends early above 2 MiB. \`meta.next_cursor\` is null at the end.`,
      params: NoteParams,
      query: NotesQuery,
      answers: { 200: List(NoteVersion) },
    },
    async ({ access: { workspace_id }, params, query: { cursor } }) =>
      reading(async (db) => {
        const { body } = await notes.read(db, workspace_id, params)
        const place = decodeCursor(history_order, cursor, ['string', 'number']) as HistoryPlace | null
        const note = { workspace_id, note_id: params.note_id, body }
        const { versions, next } = await noteHistory(db, notes.kind, note, {
          max_bytes: page_bytes,
          after: place ?? undefined,
        })
        const next_cursor = next && encodeCursor(history_order, next)
        return { success: true as const, data: versions, meta: { per_page: max_versions, next_cursor } }
      }),
  )
  records.change({ summary: 'Change a note', body: update, view }, async (tx, context, incoming) => {
    const { params, body, ...sent } = incoming
    return { record: await notes.change(tx, context, params, body, sent) }
  })
  records.remove({ summary: 'Move a note to the trash' }, async (tx, context, { params, expect }) => {
    await notes.remove(tx, context, params, expect)
  })
  records.verb(
    {
      name: 'restore',
      summary: 'Restore a note from the trash',
      description: `To restore a note of a ${noun} in the trash, restore the ${noun}.`,
      body: NoFields,
      view,
    },
    async (tx, context, { params, ...sent }) => ({
      record: await notes.restore(tx, context, params, sent),
    }),
  )
}

type NotesBelow = { workspace_id: number; owner_id: number; below: number }

/**
 * The newest notes below an id, as many as one answer may have; `next` is the id below which the rest is. `reserve` gets
 * their bytes before they are read.
 */
async function notesBelow(
  db: Db,
  { queries }: Notes,
  range: NotesBelow,
  reserve: (bytes: number) => void,
): Promise<{ notes: string[]; next: number | null }> {
  const limits = { limit: max_listed, max_bytes: all_at_once_bytes }
  const { from, bytes, more } = await queries.measure(db, range, limits)
  if (from === null) return { notes: [], next: null }
  reserve(bytes)
  const { notes, next } = await queries.list(db, { ...range, from }, all_at_once_bytes)
  return { notes, next: next ?? (more ? from : null) }
}
