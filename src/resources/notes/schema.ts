import type { Static } from 'typebox'
import { nullableObject, OptionalTimestamp, Text, Titled } from '../../http/fields.ts'
import { Author } from '../shared-columns.ts'

/** A text that a note has or had, from the audit log. */
export const NoteVersion = Titled('NoteVersion', {
  body: Text(65_535, { examples: ['Met at the fair; wants a quote for 40 seats.'] }),
  written_at: OptionalTimestamp({
    description: 'Null if the audit log no longer has the entry that wrote this text.',
    examples: ['2026-11-21T08:30:00.000Z'],
  }),
  written_by: nullableObject({ ...Author, description: 'Null with `written_at`.' } as typeof Author),
})
export type NoteVersion = Static<typeof NoteVersion>
