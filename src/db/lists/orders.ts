import { type RawBuilder, sql } from 'kysely'

/** A part of an order: the field of the API, and the expression of the order's index for it, which is never null. */
export type SortKey = {
  field: string
  by: RawBuilder<unknown>
  /** Whether its values are numbers, not texts. */
  numeric?: boolean
  descending?: boolean
}

/** An order of an index, which ends with the id. It can also be read backwards. */
export type Order = readonly SortKey[]

/** An order with directions: its name in a cursor, its keys, and the direction of the id. */
export type Sorting = {
  name: string
  keys: Order
  descending: boolean
  /** The key of the custom field that it orders by, which must be defined (db/lists/by-value.ts). */
  custom_key?: string
}

/** The default order of lists: newest first, by id. */
export const newest_first: Sorting = { name: '-id', keys: [], descending: true }

/** The orders of every list of records. */
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

/** Every value of `sort`: the orders, also backwards, and each of their prefixes. */
export const sortNames = (orders: readonly Order[]): string[] => [
  ...new Set(
    sortings(orders).flatMap(({ name }) => {
      const parts = name.split(',')
      return parts.map((_, index) => parts.slice(0, index + 1).join())
    }),
  ),
]

const by_custom_field = /^(-?)custom_fields\.(.{1,64})$/su

/** The order of a `sort` value by a custom field, such as `-custom_fields.seats`; null for another text. */
export function findCustomSorting(text: string): Sorting | null {
  const [name, minus, custom_key] = by_custom_field.exec(text) ?? []
  if (name === undefined || custom_key === undefined) return null
  const by: SortKey = { field: name, by: sql.lit('') }
  return { name, keys: [by], descending: minus === '-', custom_key }
}

/** The order of a `sort` value, such as `-value,name`; null when no index has it. */
export const findSorting = (orders: readonly Order[], text: string): Sorting | null =>
  sortings(orders).find(({ name }) => name === text || name.startsWith(`${text},`)) ?? null
