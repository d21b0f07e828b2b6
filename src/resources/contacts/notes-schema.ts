import { type Static, Type } from 'typebox'
import { Body, Id, rest_cursor, Text, Timestamp } from '../../http/fields.ts'

const body = Text(65_535, { examples: ['Met at the fair; wants a quote for 40 seats.'] })

export const Note = Type.Object(
  {
    id: Id({ examples: [5] }),
    contact_id: Id({ examples: [42] }),
    body,
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'Note' },
)
export type Note = Static<typeof Note>

export const note_fields = ['body'] as const

const read_only = Object.keys(Note.properties)
export const NoteCreate = Body({ body }, read_only, ['body'])
export const NoteUpdate = Body({ body }, read_only)

/** All notes come at once: there is nothing to ask for, but the rest of those that are too many for one answer. */
export const NotesQuery = Type.Object({ cursor: rest_cursor }, { additionalProperties: false })
export const NoteParams = Type.Object({ id: Id(), note_id: Id() })
