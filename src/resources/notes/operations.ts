import type { Db, Tx } from '../../db/db.ts'
import { lockRow } from '../../db/locks.ts'
import { isLive } from '../../db/references.ts'
import { type FieldProblem, notFound, orNotFound, refuse, refuseMore } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import { notifyMentioned } from '../../events/mentions.ts'
import { changedValues, newValues } from '../writing/input.ts'
import {
  addRecord,
  auditRecord,
  type Expect,
  lockRecord,
  type Operations,
  type Sent,
  saveChanges,
} from '../writing/operations.ts'
import { recordsOf } from '../writing/records.ts'
import type { Row } from '../writing/selection.ts'
import { noteQueries } from './queries.ts'
import {
  company_notes,
  contact_notes,
  deal_notes,
  type Note,
  type NoteBody,
  type NoteKind,
} from './resource.ts'

/** Live notes that a record can have. Contacts of earlier versions may have more. */
export const max_notes = 1000

/** The record of a note, and the note. */
export type NoteKey = { id: number; note_id: number }

/** The functions that read and change the notes of one kind. */
export type Notes = ReturnType<typeof notesOf>

function notesOf(kind: NoteKind) {
  const { resource, of, by, noun } = kind
  const { table } = resource
  const records = recordsOf<Note, NoteBody>(resource)
  const queries = noteQueries(kind)

  const placeOf = (workspace_id: number, { id, note_id }: NoteKey) => ({
    workspace_id,
    owner_id: id,
    id: note_id,
  })

  const find = async (db: Db, workspace_id: number, key: NoteKey): Promise<Note | null> =>
    JSON.parse((await queries.text(db, placeOf(workspace_id, key)))?.text ?? 'null')

  /** A note of a live record, or 404. */
  const read = async (db: Db, workspace_id: number, key: NoteKey): Promise<Note> =>
    orNotFound('note', await find(db, workspace_id, key))

  async function lockNote(tx: Tx, workspace_id: number, key: NoteKey, expect: Expect): Promise<Note> {
    await lockRow(tx, table, workspace_id, key.note_id)
    const note = await read(tx, workspace_id, key)
    expect(note)
    return note
  }

  /** Locks a live record, so that concurrent notes are counted one after another; 404 without it. */
  async function lockOwner(tx: Tx, workspace_id: number, id: number, missing: string): Promise<void> {
    await lockRow(tx, of, workspace_id, id)
    if (!(await isLive(tx, of, workspace_id, id))) throw notFound(missing)
  }

  async function refuseMany(tx: Tx, workspace_id: number, owner_id: number): Promise<void> {
    const count = await queries.count(tx, { workspace_id, owner_id })
    refuseMore(
      'too_many_notes',
      count,
      max_notes,
      `A ${noun} has at most ${max_notes} notes`,
      'Delete one first.',
    )
  }

  /** Adds a note to a live record. 409 beyond 1000 live notes; the catalogue has no event for it. */
  async function create(
    tx: Tx,
    context: Context,
    owner_id: number,
    body: NoteBody,
    problems: readonly FieldProblem[],
  ): Promise<Note> {
    const { workspace_id } = context
    await lockOwner(tx, workspace_id, owner_id, `This ${noun}`)
    refuse(problems)
    await refuseMany(tx, workspace_id, owner_id)
    const note = await addRecord(tx, context, records, newValues(resource, body) as NoteBody, {
      [by]: owner_id,
    })
    await notifyMentioned(tx, context, { kind: of, id: owner_id, note_id: note.id }, note.body)
    return note
  }

  /** Changes the text of a note. */
  async function change(
    tx: Tx,
    context: Context,
    key: NoteKey,
    body: NoteBody,
    { problems, expect }: Sent,
  ): Promise<Note> {
    const before = await lockNote(tx, context.workspace_id, key, expect)
    refuse(problems)
    const values = changedValues(resource, body, before) as Partial<NoteBody>
    const { after } = await saveChanges(tx, context, records, before, values)
    await notifyMentioned(tx, context, { kind: of, ...key }, after.body, before.body)
    return after
  }

  /** Moves a note to the trash by itself; returns it as it was. */
  async function remove(tx: Tx, context: Context, key: NoteKey, expect: Expect): Promise<Note> {
    const { workspace_id } = context
    const note = await lockNote(tx, workspace_id, key, expect)
    // The context reads the clock here, not before the lock.
    await queries.move(tx, workspace_id, note.id, context.now)
    auditRecord(tx, context, 'deleted', resource, note)
    return note
  }

  /** Brings a note back that was deleted by itself. A note of a deleted record comes back with its record. */
  async function restore(tx: Tx, context: Context, key: NoteKey, { problems, expect }: Sent): Promise<Note> {
    const { workspace_id } = context
    const { id, note_id } = key
    await lockOwner(tx, workspace_id, id, 'This note')
    await lockRow(tx, table, workspace_id, note_id)
    const live = await find(tx, workspace_id, key)
    if (live) {
      expect(live)
      return live
    }
    if (!(await queries.isInTrash(tx, placeOf(workspace_id, key)))) throw notFound('This note')
    refuse(problems)
    await refuseMany(tx, workspace_id, id)
    await queries.move(tx, workspace_id, note_id, null)
    const note = await read(tx, workspace_id, key)
    auditRecord(tx, context, 'restored', resource, note)
    return note
  }

  /** Gives a note to another record, in the trash too, if the note is live. The audit log keeps both. */
  async function give(tx: Tx, context: Context, id: number, owner_id: number): Promise<Note> {
    const before = await lockRecord(tx, context, records, id)
    return (await saveChanges(tx, context, records, before, {}, { set: { [by]: owner_id } })).after
  }

  const keyOf = async (tx: Tx, { workspace_id }: Context, note_id: number): Promise<NoteKey> => {
    const owner_id = await queries.ownerOf(tx, workspace_id, note_id)
    if (owner_id === undefined) throw notFound('This note')
    return { id: owner_id, note_id }
  }

  /** The same by the id of the note alone, for callers that do not name a resource. */
  const by_id: Operations<Note> = {
    create(tx, context, given, problems) {
      refuse(problems)
      const { [by]: owner_id, ...body } = given as Row
      return create(tx, context, owner_id as number, body, problems)
    },
    change: async (tx, context, id, body, sent) =>
      change(tx, context, await keyOf(tx, context, id), body, sent),
    remove: async (tx, context, id, expect) => remove(tx, context, await keyOf(tx, context, id), expect),
    restore: async (tx, context, id, sent) => restore(tx, context, await keyOf(tx, context, id), sent),
  }

  return { kind, records, queries, read, create, change, remove, restore, give, by_id }
}

export const contactNotes = notesOf(contact_notes)
export const companyNotes = notesOf(company_notes)
export const dealNotes = notesOf(deal_notes)
