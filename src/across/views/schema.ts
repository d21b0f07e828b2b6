import { type Static, Type } from 'typebox'
import { NamedActor } from '../../events/actors.ts'
import { Body, Exact, nullableObject, OptionalText, Text, Timestamp, Titled } from '../../http/fields.ts'
import { codesFilter } from '../../http/filter-parameters.ts'
import { mainOf } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'

/** The most shared views of a workspace, and the most private ones of a member: few enough to come all at once. */
export const max_views = 200

const visibilities = ['shared', 'private'] as const

/** A saved view as GET shows it. */
export type View = {
  id: string
  list: string
  name: string
  query: string
  visibility: (typeof visibilities)[number]
  created_by: NamedActor | null
  updated_by: NamedActor | null
  created_at: string
  updated_at: string
}

/** The fields of a view that a request can change. */
export const view_fields = ['list', 'name', 'query', 'visibility'] as const
export type ViewFields = Pick<View, (typeof view_fields)[number]>

const name = Text(255, { examples: ['Partners in Berlin'] })
const query = {
  description: 'The query string of the list in the web app, without the question mark. It may be empty.',
  examples: ['tag=partner&sort=last_name'],
}
const visibility = (description: string) =>
  Type.Unsafe<View['visibility']>({ type: 'string', enum: visibilities, description })
const author = (description: string) => nullableObject({ ...NamedActor, description } as typeof NamedActor)

/** The lists that have views: those of the main resources, and the deliveries. */
export const listsOf = (resources: readonly Resource[]): string[] => [
  ...mainOf(resources).map(({ table }) => table),
  'deliveries',
]

// The least length makes a null or a blank the problem "required".
const listName = (lists: readonly string[], options: object = {}) =>
  Type.Unsafe<string>({
    type: 'string',
    enum: lists,
    description: 'The list that the view shows.',
    examples: ['contacts'],
    ...options,
  })

/** The schemas of saved views, which show lists of these resources, or the deliveries. */
export function viewSchemas(resources: readonly Resource[]) {
  const lists = listsOf(resources)
  const View = Titled('View', {
    id: Type.String({ examples: ['view_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b'] }),
    list: listName(lists),
    name,
    query: Type.String({ maxLength: 4096, ...query }),
    visibility: visibility('Whether all members see the view, or only the person who made it.'),
    created_by: author('Who made the view. Null on views of version 0.1.'),
    updated_by: author('Who changed the view last.'),
    created_at: Timestamp(),
    updated_at: Timestamp(),
  })
  const read_only = Object.keys(View.properties)
  // Verbatim, because an empty text is one, not null.
  const sent = {
    list: listName(lists, { minLength: 1 }),
    name,
    query: Type.String({ maxLength: 4096, verbatim: true, ...query }),
    visibility: visibility('A new view is shared by default. A private view needs a person, not a key.'),
  }
  return {
    View,
    ViewCreate: Body(sent, read_only, ['list', 'name', 'query']),
    ViewUpdate: Body(sent, read_only),
    ViewsQuery: Exact({ list: codesFilter('list', lists) }),
  }
}

export const ViewParams = Type.Object({ view_id: Type.String() })

/** The tabs of a list as a member wants them. */
export type ViewTabs = { list: string; tabs: string[]; default_tab: string | null }

/** The schemas of the tabs above the same lists. */
export function tabSchemas(resources: readonly Resource[]) {
  const fields = {
    tabs: Type.Array(Text(64), {
      maxItems: 2 * max_views,
      description: 'The ids of saved views in their order. Other views follow, the oldest first.',
      examples: [['view_0193a1b2c3d47e5f8a9b0c1d2e3f4a5b']],
    }),
    default_tab: OptionalText(64, {
      description: 'The tab that the list opens with: the id of a saved view, or mine. Null: all records.',
      examples: ['mine'],
    }),
  }
  return {
    ViewTabs: Titled('ViewTabs', { list: listName(listsOf(resources)), ...fields }),
    ViewTabsUpdate: Body(fields, ['list']),
    TabsParams: Type.Object({ list: listName(listsOf(resources)) }),
  }
}

export type TabsParams = Static<ReturnType<typeof tabSchemas>['TabsParams']>
