import { type Static, Type } from 'typebox'
import type { Db } from '../db/db.ts'
import type { Actor } from './context.ts'

const kinds = ['key', 'person', 'visitor', 'command_line', 'service'] as const

/** The author of a change in answers of the API. */
export const NamedActor = Type.Object(
  {
    kind: Type.Unsafe<Actor['kind']>({ type: 'string', enum: kinds }),
    id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'The id of a key or a person.',
      examples: ['key_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'],
    }),
    name: Type.Unsafe<string | null>({ type: ['string', 'null'], examples: ['Website form'] }),
  },
  { title: 'Actor' },
)
export type NamedActor = Static<typeof NamedActor>

/** The actor of a column that holds an id, or the kind of an actor without an id. */
export function actorOf(text: string): Actor {
  const kind = kinds.find((name) => name === text)
  if (kind) return { kind, id: null }
  return { kind: text.startsWith('key_') ? 'key' : 'person', id: text }
}

/** The text that a column stores for an actor: the id of a key or a person, otherwise the kind. */
export const storedActor = ({ kind, id }: Actor): string => id ?? kind

/** The actors in the same order, with their names in this workspace, or null. */
export async function namedActors(
  db: Db,
  workspace_id: number,
  actors: readonly Actor[],
): Promise<NamedActor[]> {
  const ids = [...new Set(actors.flatMap(({ id }) => id ?? []))]
  const keys = ids.length
    ? await db
        .selectFrom('api_keys')
        .select(['id', 'name'])
        .where('workspace_id', '=', workspace_id)
        .where('id', 'in', ids)
        .execute()
    : []
  const persons = ids.filter((id) => id.startsWith('usr_'))
  // Do not check memberships: a person may have left the workspace after the change.
  const users = persons.length
    ? await db.selectFrom('users').select(['id', 'name']).where('id', 'in', persons).execute()
    : []
  const names = new Map([...keys, ...users].map(({ id, name }) => [id, name]))
  return actors.map(({ kind, id }) => ({ kind, id, name: (id && names.get(id)) ?? null }))
}
