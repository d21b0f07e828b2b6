import { Type } from 'typebox'
import { Body, Text, Timestamp } from '../../http/fields.ts'
import type { Resource } from '../../resources/resource.ts'

/** Views of one workspace are few enough to come all at once. */
export const max_views = 200

/** A saved view as GET shows it. */
export type View = {
  id: string
  list: string
  name: string
  query: string
  created_at: string
  updated_at: string
}

/** What a person may change. */
export const view_fields = ['list', 'name', 'query'] as const

const name = Text(255, { examples: ['Partners in Berlin'] })
const query = {
  description: 'The query string of the list in the web app, without the question mark. It may be empty.',
  examples: ['tag=partner&sort=last_name'],
}

/** The schemas of saved views, which show lists of these resources, or the deliveries. */
export function viewSchemas(resources: readonly Resource[]) {
  const saved = resources.filter(({ saved_views }) => saved_views).map(({ table }) => table)
  const lists = [...saved, 'deliveries']
  // The least length makes a null or a blank the problem "required".
  const ListName = (options: object = {}) =>
    Type.Unsafe<string>({
      type: 'string',
      enum: lists,
      description: 'The list that the view shows.',
      examples: ['contacts'],
      ...options,
    })
  const View = Type.Object(
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
  const read_only = Object.keys(View.properties)
  // Verbatim, because an empty text is one, not null.
  const sent = {
    list: ListName({ minLength: 1 }),
    name,
    query: Type.String({ maxLength: 4096, verbatim: true, ...query }),
  }
  return {
    View,
    ViewCreate: Body(sent, read_only, ['list', 'name', 'query']),
    ViewUpdate: Body(sent, read_only),
    ViewsQuery: Type.Object({ list: Type.Optional(ListName()) }, { additionalProperties: false }),
  }
}

export const ViewParams = Type.Object({ view_id: Type.String() })
