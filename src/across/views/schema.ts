import { type Static, Type } from 'typebox'
import { Body, Text, Timestamp } from '../../http/fields.ts'

const lists = ['contacts', 'companies', 'deals', 'activities', 'deliveries'] as const

/** Views of one workspace are few enough to come all at once. */
export const most_views = 200

// The least length makes a null or a blank the problem "required".
const ListName = (options: object = {}) =>
  Type.Unsafe<(typeof lists)[number]>({
    type: 'string',
    enum: lists,
    description: 'Which list it shows.',
    examples: ['contacts'],
    ...options,
  })
const name = Text(255, { examples: ['Partners in Berlin'] })
const query = {
  description:
    "The query string of the list's address in the web app, without the question mark; may be empty.",
  examples: ['tag=partner&sort=last_name'],
}

/** A saved view as GET shows it. */
export const View = Type.Object(
  {
    id: Type.String({ examples: ['view_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
    list: ListName(),
    name,
    query: Type.String({ maxLength: 4096, ...query }),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  { title: 'View' },
)
export type View = Static<typeof View>

/** What a person may change. */
export const view_fields = ['list', 'name', 'query'] as const

const read_only = Object.keys(View.properties)
// Verbatim, because an empty text is one, not null.
const sent = {
  list: ListName({ minLength: 1 }),
  name,
  query: Type.String({ maxLength: 4096, verbatim: true, ...query }),
}
export const ViewCreate = Body(sent, read_only, ['list', 'name', 'query'])
export const ViewUpdate = Body(sent, read_only)

export const ViewsQuery = Type.Object({ list: Type.Optional(ListName()) }, { additionalProperties: false })
export const ViewParams = Type.Object({ view_id: Type.String() })
