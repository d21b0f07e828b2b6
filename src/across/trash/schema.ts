import { Type } from 'typebox'
import { type Deletable, deletable } from '../../db/records.ts'
import { Id, ListQuery, OptionalId, Timestamp } from '../../http/fields.ts'
import { cursor } from '../../http/lists.ts'

const Kind = () => Type.Unsafe<Deletable>({ type: 'string', enum: deletable })

/** A record in the trash, told alike for every kind. */
export const TrashedRecord = Type.Object(
  {
    kind: Kind(),
    id: Id(),
    name: Type.String({ description: 'What a person calls it; the beginning of a note.' }),
    contact_id: OptionalId({ description: 'Of a note: whose it is. Null for all other kinds.' }),
    deleted_at: Timestamp(),
    removed_at: Timestamp({ description: 'When it goes for good.' }),
  },
  { title: 'TrashedRecord' },
)

export const TrashQuery = ListQuery({ cursor, kind: Type.Optional(Kind()) })

/** Any text as a kind: one that does not exist has no records. */
export const TrashParams = Type.Object({ kind: Type.String(), id: Id() })
