import { type RawBuilder, sql } from 'kysely'

/** A part of an order: the field that a client names, and the expression that the order's index has for it, never null. */
export type SortKey = {
  field: string
  by: RawBuilder<unknown>
  /** Its values are numbers, not texts. */
  numeric?: boolean
  descending?: boolean
}

/** An order that an index holds, ended by the id. Backwards it is one too. */
export type Order = readonly SortKey[]

/** An order as it is read: its name in a cursor, its parts with their directions, and the id's. */
export type Sorting = { name: string; keys: Order; descending: boolean }

/** Newest first, by id: how lists are sorted when nothing else is asked for. */
export const newest_first: Sorting = { name: '-id', keys: [], descending: true }

/** The orders that every list of records has. */
export const dated: readonly Order[] = ['created_at', 'updated_at'].map((field) => [
  { field, by: sql.ref(field) },
])

const signed = ({ field, descending }: SortKey) => (descending ? `-${field}` : field)
const turned = (order: Order): Order => order.map((key) => ({ ...key, descending: !key.descending }))
const sortings = (orders: readonly Order[]): Sorting[] =>
  [[], ...orders].flatMap((order) =>
    [order, turned(order)].map((keys, backwards) => ({
      name: keys.length ? keys.map(signed).join() : backwards ? '-id' : 'id',
      keys,
      descending: backwards === 1,
    })),
  )

/** Every text that `sort` takes: the orders, backwards too, and each of their beginnings. */
export const sortNames = (orders: readonly Order[]): string[] => [
  ...new Set(
    sortings(orders).flatMap(({ name }) => {
      const parts = name.split(',')
      return parts.map((_, index) => parts.slice(0, index + 1).join())
    }),
  ),
]

/** The order of a `sort` text such as `-value,name`; null when no index has it. */
export const findSorting = (orders: readonly Order[], text: string): Sorting | null =>
  sortings(orders).find(({ name }) => name === text || name.startsWith(`${text},`)) ?? null
