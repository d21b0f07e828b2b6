import { answerOf, api, dataOf, type Schemas, taggedOf } from './client.ts'
import type { Noted } from './note-kinds.ts'
import { matching } from './record-api.ts'

/** A note without the field that names its record. */
export type Note = Omit<Schemas['Note'], 'contact_id'>

/** The operations on the notes of a record. */
export function noteApi(kind: Noted, id: number) {
  // The paths of all kinds take and answer the same, but for the field that names the record.
  const path = `/api/v1/${kind}/{id}/notes` as '/api/v1/contacts/{id}/notes'
  const one = `${path}/{note_id}` as const
  const at = (note_id: number) => ({ params: { path: { id, note_id } } })
  return {
    list: (cursor?: string, signal?: AbortSignal) =>
      answerOf(api.GET(path, { params: { path: { id }, query: { cursor } }, signal })),
    history: (note_id: number, cursor: string, signal: AbortSignal) =>
      answerOf(api.GET(`${one}/history`, { params: { path: { id, note_id }, query: { cursor } }, signal })),
    create: (body: string) => dataOf(api.POST(path, { params: { path: { id } }, body: { body } })),
    read: (note_id: number) => taggedOf(api.GET(one, at(note_id))),
    /** Changes a note, if it still has this entity tag. */
    change(note_id: number, body: string, etag: string | undefined) {
      const { path } = at(note_id).params
      return dataOf(api.PUT(one, { params: { path, header: matching(etag) }, body: { body } }))
    },
    remove: (note_id: number) => answerOf(api.DELETE(one, at(note_id))),
    restore: (note_id: number) => dataOf(api.POST(`${one}/restore`, { ...at(note_id), body: {} })),
  }
}
