import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import {
  Body,
  ListQuery,
  nullableObject,
  OptionalTimestamp,
  Text,
  Timestamp,
  Titled,
} from '../../http/fields.ts'
import { textsFilter } from '../../http/filter-parameters.ts'
import { cursor } from '../../http/lists.ts'

const name = Text(255, { examples: ['Website form'] })

/** An API key as GET shows it, without its token, of which only the hash is stored. */
export const ApiKey = Titled('ApiKey', {
  id: Type.String({ examples: ['key_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
  name,
  scopes: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'The scopes of the key. Null: all.',
    examples: [['contacts:read', 'contacts:write']],
  }),
  created_at: Timestamp(),
  expires_at: OptionalTimestamp({ description: 'The key is refused from this time on. Null: no expiry.' }),
  last_used_at: OptionalTimestamp({ description: 'The last use, to the minute. Null before the first.' }),
  revoked_at: OptionalTimestamp({ description: 'The time of the revocation, or null.' }),
  made_by: nullableObject(NamedActor),
})
export type ApiKey = Static<typeof ApiKey>

/** The answer of creation, the only one with the token. */
export const ApiKeyCreated = Titled('ApiKeyCreated', {
  ...ApiKey.properties,
  token: Type.String({
    description: 'The key. It is shown only in this answer.',
    examples: ['crm_4f5Zk0qT8sYx2LwB7nVgJ1mR3cPdHuEaQi9oX6Kt5Wb'],
  }),
})

/** The body of creation. `scopes` are all scopes of the service. */
export const keyBody = (scopes: readonly string[]) =>
  Body(
    {
      name,
      scopes: Type.Unsafe<string[] | null>({
        type: ['array', 'null'],
        minItems: 1,
        maxItems: scopes.length,
        items: { type: 'string', enum: scopes },
        description: 'The scopes of the key. The caller needs each of them. Null or absent: all.',
        examples: [['contacts:read', 'contacts:write']],
      }),
      expires_at: OptionalTimestamp({ description: 'A time in the future. Null or absent: no expiry.' }),
    },
    Object.keys(ApiKey.properties),
    ['name'],
  )

export const KeysQuery = ListQuery({
  cursor,
  made_by: textsFilter('made_by', { about: 'The id of the key or the person.', nullable: true }),
  live: Type.Optional(
    Type.Unsafe<'true'>({
      type: 'string',
      enum: ['true'],
      description: 'true: only keys that are neither revoked nor expired.',
    }),
  ),
})

export const KeyParams = Type.Object({ key_id: Type.String() })
