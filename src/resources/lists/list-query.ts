import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { dated, type Order, type Sorting, sortNames } from '../../db/lists/orders.ts'
import { ListQuery, MaybeText } from '../../http/fields.ts'
import { orders_of } from '../../http/filter-values.ts'
import { cursor } from '../../http/lists.ts'
import { custom_key } from '../../http/query-names.ts'
import type { Resource } from '../resource.ts'
import { filterParameters } from './filter-fields.ts'

// The parameters of a list of records.

/** The schemas of the filters that only this resource has, by their parameters. */
export type Filters = Record<string, TSchema>
/** The values of these filters. */
export type FilterValues<F extends Filters> = Static<TObject<F>>

/** The orders of the lists of a resource. */
export const ordersOf = ({ orders }: Pick<Resource, 'orders'>): readonly Order[] => [...dated, ...orders]

/** Whether the parameter `search` looks at the stored texts. A resource with an index of their words has a parameter of its own. */
export const searchesTexts = ({ sort_name, search_index }: Resource): boolean =>
  sort_name.length > 0 && !search_index

/** The zone of words such as `this_month`. */
const relative_zone = Type.String({
  maxLength: 64,
  description: 'The time zone of words such as `this_month`, if the caller has none. By default UTC.',
  examples: ['Europe/Berlin'],
})

/** The search parameter of lists that search the stored texts, and telephone numbers if records have them. */
const textSearch = ({ search_text, numbers }: Resource) => ({
  search: MaybeText({
    maxLength: 255,
    description: [
      `Each word must occur anywhere in ${search_text.join(', ') || 'the first 100 characters of the name'}. Case and accents are ignored.`,
      ...(numbers.length ? [found_numbers] : []),
    ].join(' '),
  }),
})

/** The description of numbers in a search. */
export const found_numbers =
  'At least 4 digits also find a telephone number, or a part of it, however it is written.'

const tag = MaybeText({
  maxLength: 4000,
  'x-filter': true,
  description:
    'A tag, or several with commas between them: records with one of them. `!` before a tag means "not". `null`: without tags; `!null`: with tags.',
})

/** The name of the filter of a custom field, with its key. */
export const custom_field = new RegExp(`^custom_fields\\[${custom_key}\\]$`, 'su')

/** An end of a range of a defined custom field. */
export const custom_range = new RegExp(`^custom_fields\\[${custom_key}\\]_(from|to)$`, 'su')
const ends_of_ranges = ['from', 'to'].map((end) => `^custom_fields\\[${custom_key}\\]_${end}$`)

function sortSchema(resource: Resource): object {
  const names = sortNames(ordersOf(resource))
  const description = 'Default -id: newest first.'
  if (!('custom_fields' in resource.columns)) return { enum: names, description }
  return {
    maxLength: 100,
    [orders_of]: names,
    description: `${description} One of ${names.join(', ')}, or \`custom_fields.KEY\` and \`-custom_fields.KEY\` of a defined field.`,
    examples: ['-id'],
  }
}

/**
 * Query of a list of records: paging, a cursor, orders, search by name, the filters that follow from the columns, and the
 * resource's own. With custom fields, `custom_fields[key]=value` is a filter, too.
 */
export const listQueryOf = <F extends Filters>(resource: Resource, filters: F) =>
  ListQuery(
    {
      cursor,
      sort: Type.Optional(
        Type.Unsafe<string>({
          type: 'string',
          ...sortSchema(resource),
        }),
      ),
      ...(searchesTexts(resource) && textSearch(resource)),
      ...filterParameters(resource),
      time_zone: Type.Optional(relative_zone),
      ...('tags' in resource.columns && { tag }),
      ...filters,
    },
    'custom_fields' in resource.columns
      ? {
          patternProperties: {
            ...Object.fromEntries(ends_of_ranges.map((end) => [end, { type: 'string', maxLength: 64 }])),
            [custom_field.source]: { type: 'string', maxLength: 4096 },
          },
        }
      : {},
  )

/** The order of an export by default, so that an import keeps the order of the ids. */
export const oldest_first: Sorting = { name: 'id', keys: [], descending: false }

/** Query of all records of a list: its filters, without orders and paging, and other parameters. */
export function filterQueryOf<F extends Filters>(
  resource: Resource,
  filters: F,
  others: Record<string, TSchema>,
  required: readonly string[] = [],
): TSchema {
  const { properties, ...schema } = listQueryOf(resource, filters)
  const { page, per_page, cursor, details, progress, sort, ...filtering } = properties as Record<
    string,
    TSchema
  >
  // The zone of a report or of groups has a default.
  return { ...schema, properties: { ...others, ...filtering, ...others }, required } as never
}

/** Query of an export of a list: the list's filters and orders, without paging. */
export function exportQueryOf<F extends Filters>(resource: Resource, filters: F): TSchema {
  const { sort } = listQueryOf(resource, filters).properties as Record<string, TSchema>
  const format = Type.Unsafe<'csv' | 'ndjson'>({
    type: 'string',
    enum: ['csv', 'ndjson'],
    default: 'csv',
    description: 'The format of the file.',
  })
  const by = { ...sort, description: 'Default id: oldest first.' } as TSchema
  return filterQueryOf(resource, filters, { format, sort: by })
}
