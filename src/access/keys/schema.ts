import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import { Body, ListQuery, nullableObject, OptionalTimestamp, Text, Timestamp } from '../../http/fields.ts'
import { cursor } from '../../http/lists.ts'

const name = Text(255, { examples: ['Website form'] })

/** An API key as GET shows it, without its token, of which only the hash is stored. */
export const ApiKey = Type.Object(
  {
    id: Type.String({ examples: ['key_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
    name,
    scopes: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'What it may do; null: everything.',
      examples: [['contacts:read', 'contacts:write']],
    }),
    created_at: Timestamp(),
    expires_at: OptionalTimestamp({ description: 'From then on it opens nothing; null: never.' }),
    last_used_at: OptionalTimestamp({ description: 'To a minute; null before its first use.' }),
    revoked_at: OptionalTimestamp({ description: 'When it was taken back; null while it works.' }),
    made_by: nullableObject(NamedActor),
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

/** The answer of creation, the only one with the token. */
export const ApiKeyCreated = Type.Object(
  {
    ...ApiKey.properties,
    token: Type.String({ description: 'The key itself, shown here and never again.' }),
  },
  { title: 'ApiKeyCreated' },
)

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
        description: 'At most what the caller may do. Null or absent: everything, for a caller who may.',
        examples: [['contacts:read', 'contacts:write']],
      }),
      expires_at: OptionalTimestamp({ description: 'In the future. Null or absent: never.' }),
    },
    Object.keys(ApiKey.properties),
    ['name'],
  )

export const KeysQuery = ListQuery({
  cursor,
  made_by: Type.Optional(Type.String({ maxLength: 255, description: 'The id of the key or person.' })),
  live: Type.Optional(
    Type.Unsafe<'true'>({
      type: 'string',
      enum: ['true'],
      description: 'Only keys that open something: neither taken back nor over.',
    }),
  ),
})

export const KeyParams = Type.Object({ key_id: Type.String() })
