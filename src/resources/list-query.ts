import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Db } from '../db/db.ts'
import { type Valued, valueText } from '../db/lists/field-values.ts'
import { type Filter, hasValue, within } from '../db/lists/filters.ts'
import { dated, type Order, type Sorting, sortNames } from '../db/lists/orders.ts'
import { ListQuery, time } from '../http/fields.ts'
import { cursor } from '../http/lists.ts'
import type { Resource } from './resource.ts'

// The parameters of a list of records.

/** The schemas of the filters of a resource's own, by their parameters. */
export type Filters = Record<string, TSchema>
/** The values of these filters. */
export type FilterValues<F extends Filters> = Static<TObject<F>>

/** The orders of the lists of a resource. */
export const ordersOf = ({ orders }: Pick<Resource, 'orders'>): readonly Order[] => [...dated, ...orders]

/** Whether the parameter `search` looks at the name. A resource with its own search text searches that text. */
export const searchesNames = ({ sort_name, search_text }: Resource): boolean =>
  sort_name.length > 0 && !search_text.length

/** The search parameter of lists that search only the name. */
const name_search = {
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'Each word must occur anywhere in the first 100 characters of the name. Case and accents are ignored.',
    }),
  ),
}

const custom_field = /^custom_fields\[(.{1,64})\]$/s

/**
 * Query of a list of records: paging, a cursor, orders, ranges of dates, search by name, and the resource's own
 * filters. With custom fields, `custom_fields[key]=value` is a filter, too.
 */
export const listQueryOf = <F extends Filters>(resource: Resource, filters: F) =>
  ListQuery(
    {
      cursor,
      sort: Type.Optional(
        Type.Unsafe<string>({
          type: 'string',
          enum: sortNames(ordersOf(resource)),
          description: 'Default -id: newest first.',
        }),
      ),
      ...(searchesNames(resource) && name_search),
      ...filters,
      created_from: time('Created at or after this time.'),
      created_to: time('Created at or before this time.'),
      updated_from: time('Changed at or after this time.'),
      updated_to: time('Changed at or before this time.'),
    },
    'custom_fields' in resource.columns
      ? { patternProperties: { [custom_field.source]: { type: 'string', maxLength: 4096 } } }
      : {},
  )

/** The order of an export by default, so that an import keeps the order of the ids. */
export const oldest_first: Sorting = { name: 'id', keys: [], descending: false }

/** Query of an export of a list: the list's filters and orders, without paging. */
export function exportQueryOf<F extends Filters>(resource: Resource, filters: F): TSchema {
  const { properties, ...schema } = listQueryOf(resource, filters)
  const { page, per_page, cursor, details, sort, ...filtering } = properties as Record<string, TSchema>
  const format = Type.Unsafe<'csv' | 'ndjson'>({
    type: 'string',
    enum: ['csv', 'ndjson'],
    default: 'csv',
    description: 'The format of the file.',
  })
  const by = { ...sort, description: 'Default id: oldest first.' }
  return { ...schema, properties: { format, sort: by, ...filtering }, required: [] } as never
}

type Dates = Partial<Record<'created_from' | 'created_to' | 'updated_from' | 'updated_to', string>>

/** The filters created_from, created_to, updated_from and updated_to. */
export const dateFilters = (query: Dates): Filter[] => [
  ...within('created_at', query.created_from, query.created_to),
  ...within('updated_at', query.updated_from, query.updated_to),
]

/** The filters `tag` and `custom_fields[key]`. A custom field is compared as text, so `5` matches the number 5. */
export function valueFilters(db: Db, kind: Valued, workspace_id: number, query: object): Filter[] {
  return Object.entries(query).flatMap(([name, text]) => {
    if (name === 'tag') return [hasValue(db, kind, workspace_id, 'tags', [text.trim()])]
    const [, key] = custom_field.exec(name) ?? []
    if (key === undefined) return []
    const number = text.trim() === '' ? Number.NaN : Number(text)
    const forms = Number.isFinite(number) ? [text, valueText(number)] : [text]
    return [hasValue(db, kind, workspace_id, `custom_fields.${key}`, [...new Set<string>(forms)])]
  })
}
