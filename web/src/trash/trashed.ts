import { api, dataOf, type Schemas } from '../api/client.ts'

export type Trashed = Schemas['TrashedRecord']
/** A record of the trash as a row: ids of different kinds may be the same. */
export type Row = Omit<Trashed, 'id'> & { id: string; record_id: number }

export const rowOf = ({ id, ...record }: Trashed): Row => ({
  ...record,
  id: `${record.kind}/${id}`,
  record_id: id,
})

/** Brings a record back; each kind has its own path. */
export function restoreRecord({ kind, record_id: id, contact_id }: Row): Promise<unknown> {
  const path = { params: { path: { id } }, body: {} }
  switch (kind) {
    case 'contacts':
      return dataOf(api.POST('/api/v1/contacts/{id}/restore', path))
    case 'companies':
      return dataOf(api.POST('/api/v1/companies/{id}/restore', path))
    case 'deals':
      return dataOf(api.POST('/api/v1/deals/{id}/restore', path))
    case 'activities':
      return dataOf(api.POST('/api/v1/activities/{id}/restore', path))
    case 'appointments':
      return dataOf(api.POST('/api/v1/appointments/{id}/restore', path))
    case 'booking_pages':
      return dataOf(api.POST('/api/v1/booking-pages/{id}/restore', path))
    case 'notes': {
      const note = { params: { path: { id: contact_id ?? 0, note_id: id } }, body: {} }
      return dataOf(api.POST('/api/v1/contacts/{id}/notes/{note_id}/restore', note))
    }
  }
}
