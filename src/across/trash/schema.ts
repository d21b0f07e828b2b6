import { Type } from 'typebox'
import { Id, ListQuery, OptionalId, Timestamp, Titled } from '../../http/fields.ts'
import { codesFilter } from '../../http/filter-parameters.ts'
import { cursor } from '../../http/lists.ts'
import type { Resource } from '../../resources/resource.ts'

/** The field of parts that records of all kinds have. */
const always_shown = 'contact_id'

/** The schemas of the trash, for the records of these resources. */
export function trashSchemas(resources: readonly Resource[]) {
  const kinds = resources.map(({ table }) => table)
  const Kind = () => Type.Unsafe<string>({ type: 'string', enum: kinds })
  /** A record in the trash: the same fields for every kind, but for the record of a note. */
  const TrashedRecord = Titled('TrashedRecord', {
    kind: Kind(),
    id: Id(),
    name: Type.String({
      description: 'The name of the record, or the first characters of a note.',
      examples: ['Ana Ruiz'],
    }),
    contact_id: OptionalId({ description: 'The contact of a note. Null for all other kinds.' }),
    ...ownersOfParts(resources),
    deleted_at: Timestamp(),
    removed_at: Timestamp({ description: 'The time after which it is removed for good.' }),
  })
  const TrashQuery = ListQuery({ cursor, kind: codesFilter('kind', kinds) })
  return { TrashedRecord, TrashQuery }
}

/** The fields that name the record of a part, such as `company_id`. Each is on records of one kind only. */
function ownersOfParts(resources: readonly Resource[]) {
  const fields = resources.flatMap(({ table, part_of }) =>
    part_of && part_of.by !== always_shown
      ? [[part_of.by, Type.Optional(Id({ description: `Only on ${table.replaceAll('_', ' ')}.` }))]]
      : [],
  )
  return Object.fromEntries(fields) as Record<string, ReturnType<typeof Type.Optional<ReturnType<typeof Id>>>>
}

/** Accepts any text as a kind: an unknown kind has no records. */
export const TrashParams = Type.Object({
  kind: Type.String({ description: 'The kind of the record, such as contacts.' }),
  id: Id(),
})
