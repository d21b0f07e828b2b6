import type { Schemas } from '../api/client.ts'
import { noteApi } from '../api/note-api.ts'
import { isNoteKind, recordOfNote } from '../api/note-kinds.ts'
import { recordApi } from '../api/record-api.ts'

export type Trashed = Schemas['TrashedRecord']
/** A row of the trash. Its id includes the kind, because ids of different kinds can be equal. */
export type Row = Omit<Trashed, 'id'> & { id: string; record_id: number }

export const rowOf = ({ id, ...record }: Trashed): Row => ({
  ...record,
  id: `${record.kind}/${id}`,
  record_id: id,
})

/** Restores a record; a note by the path of its own record. */
export async function restoreRecord(row: Row): Promise<unknown> {
  const { kind, record_id } = row
  if (!isNoteKind(kind)) return recordApi(kind).restore(record_id)
  const of = recordOfNote(kind, row)
  return of && noteApi(of.kind, of.id).restore(record_id)
}
