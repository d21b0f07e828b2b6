import { api, dataOf, type Schemas } from '../api/client.ts'
import { recordApi } from '../api/record-api.ts'

export type Trashed = Schemas['TrashedRecord']
/** A row of the trash. Its id includes the kind, because ids of different kinds can be equal. */
export type Row = Omit<Trashed, 'id'> & { id: string; record_id: number }

export const rowOf = ({ id, ...record }: Trashed): Row => ({
  ...record,
  id: `${record.kind}/${id}`,
  record_id: id,
})

/** Restores a record; a note by the path of its contact. */
export function restoreRecord({ kind, record_id: id, contact_id }: Row): Promise<unknown> {
  if (kind !== 'notes') return recordApi(kind).restore(id)
  const path = { id: contact_id ?? 0, note_id: id }
  return dataOf(api.POST('/api/v1/contacts/{id}/notes/{note_id}/restore', { params: { path }, body: {} }))
}
