import { type Static, Type } from 'typebox'
import { Id, rest_cursor, Text } from '../../../http/fields.ts'
import { bodyOf, dates, defineColumns, defineResource, detailView, type TableOf } from '../../resource.ts'
import { authors } from '../../shared-columns.ts'

const columns = defineColumns({
  contact_id: { shown: Id({ examples: [42] }), taken: false },
  body: {
    shown: Text(65_535, { examples: ['Met at the fair; wants a quote for 40 seats.'] }),
    required: true,
    personal: true,
  },
  ...authors,
  ...dates,
})

export const Note = detailView('Note', columns, 5)
export type Note = Static<typeof Note>
export const NoteCreate = bodyOf(columns, 'create')
/** A note of an archive, with its contact. */
export const NoteArchived = bodyOf(
  { ...columns, contact_id: { shown: Id({ examples: [42] }), required: true } },
  'create',
)
export const NoteUpdate = bodyOf(columns, 'update')
export type NoteBody = { body?: string }

/** The notes of a contact, which go to the trash and come back with it. No events: the catalogue has none. */
export const notes = defineResource({
  table: 'notes',
  noun: 'note',
  path: '/api/v1/contacts/:id/notes',
  scope: 'contacts',
  columns,
  title: { fields: ['body'], characters: 80 },
  events: [],
  timeline: { type: 'note', rank: 1 },
  part_of: { table: 'contacts', by: 'contact_id' },
})

declare module '../../../db/tables.ts' {
  interface Tables {
    notes: TableOf<typeof columns>
  }
}

/** All notes come at once. The cursor reads the rest if they exceed one answer. */
export const NotesQuery = Type.Object({ cursor: rest_cursor }, { additionalProperties: false })
export const NoteParams = Type.Object({ id: Id(), note_id: Id() })
