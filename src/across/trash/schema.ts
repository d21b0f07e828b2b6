import { Type } from 'typebox'
import { Id, ListQuery, OptionalId, Timestamp } from '../../http/fields.ts'
import { cursor } from '../../http/lists.ts'

/** The schemas of the trash; `kinds` are those of the records in it. */
export function trashSchemas(kinds: readonly string[]) {
  const Kind = () => Type.Unsafe<string>({ type: 'string', enum: kinds })
  /** A record in the trash: the same fields for every kind. */
  const TrashedRecord = Type.Object(
    {
      kind: Kind(),
      id: Id(),
      name: Type.String({
        description: 'The name of the record, or the first characters of a note.',
        examples: ['Ana Ruiz'],
      }),
      contact_id: OptionalId({ description: 'The contact of a note. Null for all other kinds.' }),
      deleted_at: Timestamp(),
      removed_at: Timestamp({ description: 'The time after which it is removed for good.' }),
    },
    { title: 'TrashedRecord' },
  )
  const TrashQuery = ListQuery({ cursor, kind: Type.Optional(Kind()) })
  return { TrashedRecord, TrashQuery }
}

/** Accepts any text as a kind: an unknown kind has no records. */
export const TrashParams = Type.Object({
  kind: Type.String({ description: 'The kind of the record, such as contacts.' }),
  id: Id(),
})
