/** The kinds of notes, by the kind of the records that have them. */
export const note_kinds = { contacts: 'notes', companies: 'company_notes', deals: 'deal_notes' } as const
/** A kind of record that has notes. */
export type Noted = keyof typeof note_kinds
export type NoteKind = (typeof note_kinds)[Noted]

const noted = Object.keys(note_kinds) as Noted[]
const owner_fields = { contacts: 'contact_id', companies: 'company_id', deals: 'deal_id' } as const

export const hasNotes = (kind: string): kind is Noted => kind in note_kinds

export const isNoteKind = (kind: string): kind is NoteKind => notedOf(kind) !== undefined

/** The kind of the records that have notes of a kind; undefined for another kind. */
export const notedOf = (kind: string): Noted | undefined => noted.find((one) => note_kinds[one] === kind)

/** The record of a note, from the fields that the note or its entry in a log has; null without it. */
export function recordOfNote(kind: string, fields: object): { kind: Noted; id: number } | null {
  const owner = notedOf(kind)
  const id = owner && (fields as Record<string, unknown>)[owner_fields[owner]]
  return owner && typeof id === 'number' ? { kind: owner, id } : null
}
