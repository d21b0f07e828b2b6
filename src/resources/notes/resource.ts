import { type Static, Type } from 'typebox'
import { Exact, Id, rest_cursor, Text } from '../../http/fields.ts'
import { bodyOf, dates, defineColumns, defineResource, detailView, type TableOf } from '../resource.ts'
import { authors } from '../shared-columns.ts'

// Notes of contacts, companies and deals. Each kind has a table of its own, because a part belongs to one kind of record
// (decision 0071). All else is the same.

const ownerId = (example: number) => ({ shown: Id({ examples: [example] }), taken: false as const })

const columnsOf = <const By extends string>(by: By, example: number) =>
  defineColumns({
    ...({ [by]: ownerId(example) } as { [K in By]: ReturnType<typeof ownerId> }),
    body: {
      shown: Text(65_535, { examples: ['Met at the fair; wants a quote for 40 seats.'] }),
      required: true,
      personal: true,
    },
    ...authors,
    ...dates,
  })
type NoteColumns<By extends string> = ReturnType<typeof columnsOf<By>>

type Described = {
  table: 'notes' | 'company_notes' | 'deal_notes'
  of: 'contacts' | 'companies' | 'deals'
  /** Of the record that has the notes. */
  noun: string
  /** The field with the id of that record. */
  by: string
  /** Of the schema of a note. */
  view: string
  example: number
  timeline: { type: string; rank: number }
}

function noteKind({ table, of, noun, by, view, example, timeline }: Described) {
  // The code for all kinds knows the fields that all of them have.
  const columns: NoteColumns<never> = columnsOf(by, example)
  const owner = { shown: Id({ examples: [example] }), required: true as const }
  return {
    noun,
    by,
    of,
    /** They go to the trash and come back with their record. No events: the catalogue has none. */
    resource: defineResource({
      table,
      noun: 'note',
      path: `/api/v1/${of}/:id/notes`,
      scope: of,
      columns,
      title: { fields: ['body'], characters: 80 },
      events: [],
      timeline,
      part_of: { table: of, by },
    }),
    view: detailView(view, columns, 5),
    create: bodyOf(columns, 'create'),
    update: bodyOf(columns, 'update'),
    /** A note of an archive, with its record. */
    archived: bodyOf({ ...columns, [by]: owner }, 'create'),
  }
}

export const contact_notes = noteKind({
  table: 'notes',
  of: 'contacts',
  noun: 'contact',
  by: 'contact_id',
  view: 'Note',
  example: 42,
  timeline: { type: 'note', rank: 1 },
})
export const company_notes = noteKind({
  table: 'company_notes',
  of: 'companies',
  noun: 'company',
  by: 'company_id',
  view: 'CompanyNote',
  example: 7,
  timeline: { type: 'company_note', rank: 6 },
})
export const deal_notes = noteKind({
  table: 'deal_notes',
  of: 'deals',
  noun: 'deal',
  by: 'deal_id',
  view: 'DealNote',
  example: 12,
  timeline: { type: 'deal_note', rank: 7 },
})

export type NoteKind = ReturnType<typeof noteKind>
export type Note = Static<typeof contact_notes.view>
export type NoteBody = { body?: string }

declare module '../../db/tables.ts' {
  interface Tables {
    notes: TableOf<NoteColumns<'contact_id'>>
    company_notes: TableOf<NoteColumns<'company_id'>>
    deal_notes: TableOf<NoteColumns<'deal_id'>>
  }
}

/** All notes come at once. The cursor reads the rest if they exceed one answer. */
export const NotesQuery = Exact({ cursor: rest_cursor })
export const NoteParams = Type.Object({ id: Id(), note_id: Id() })
