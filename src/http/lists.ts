import type { FastifyReply } from 'fastify'

import type { Found, Page } from '../db/lists/lists.ts'
import {
  findCustomSorting,
  findSorting,
  newest_first,
  type Order,
  type Sorting,
  type SortKey,
} from '../db/lists/orders.ts'
import type { Texts } from '../db/statements/json-text.ts'
import { invalid } from '../errors.ts'
import { paginationOf, paging, sendText } from './envelope.ts'
import { MaybeText } from './fields.ts'
import { emptyCursor, first_cursor } from './first-cursor.ts'
import { textProblems } from './texts.ts'

/** Encodes a position as an opaque cursor. `order` makes the cursor invalid for another order. */
export const encodeCursor = (order: string, place: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([order, ...place])).toString('base64url')

/** The type of a part of a position. */
type PartType = 'string' | 'number'

/**
 * Decodes the position of a cursor; null without one, and for the first page. Throws 422 for a cursor of another order, and
 * for an empty one: a client that sends `next_cursor: null` as a text would begin again.
 */
export function decodeCursor(
  order: string,
  cursor: string | undefined,
  parts: readonly PartType[],
): unknown[] | null {
  if (cursor === undefined || cursor === first_cursor) return null
  if (cursor === '') throw emptyCursor()
  try {
    const [made_for, ...place] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const whole =
      place.length === parts.length &&
      place.every(
        (part, n) => typeof part === parts[n] && (parts[n] === 'string' || Number.isSafeInteger(part)),
      )
    // PostgreSQL refuses some texts as parameters.
    if (made_for === order && whole && !textProblems({ place }).length) return place
  } catch {
    // Report it below, like other invalid cursors.
  }
  throw invalid([
    {
      field: 'cursor',
      code: 'invalid_cursor',
      message: `cursor must be a next_cursor of the same list with the same sort, or "${first_cursor}" to begin.`,
    },
  ])
}

/** The parameter `cursor` of every list that supports it. */
export const cursor = MaybeText({
  maxLength: 2000,
  description: `\`${first_cursor}\` for the first page, then the \`next_cursor\` of the last answer, until it is null. Unlike with \`page\`, each page costs the same, and the total is not counted.`,
})

type Query = { page: number; per_page: number; cursor?: string | undefined; sort?: string | undefined }

/** The requested page and order of a list. */
export type Listing = {
  sorting: Sorting
  /** Its name in cursors. */
  order: string
  page: Page & { page: number }
}

/** The order that a query asks for; null without one. The validator has checked it. */
export const sortingOf = (orders: readonly Order[], sort: string | undefined): Sorting | null =>
  sort === undefined ? null : (findSorting(orders, sort) ?? findCustomSorting(sort))

/** Reads paging, cursor and order of a query of a list; per_page is limited to 100. */
export function listingOf(query: Query, list_name: string, orders: readonly Order[]): Listing {
  const sorting = sortingOf(orders, query.sort) ?? newest_first
  const order = `${sorting.name} of ${list_name}`
  return { sorting, order, page: pageOf(query, order, [...sorting.keys.map(kindOf), 'number']) }
}

const kindOf = ({ numeric }: SortKey): PartType => (numeric ? 'number' : 'string')

/** The page of a query, by number or by a cursor whose position has these parts. */
function pageOf(
  query: Pick<Query, 'page' | 'per_page' | 'cursor'>,
  order: string,
  parts: readonly PartType[],
): Listing['page'] {
  const { page, per_page, offset } = paging(query)
  if (query.cursor === undefined) return { page, per_page, offset }
  return { page, per_page, after: decodeCursor(order, query.cursor, parts) }
}

/** Reads the page of a list with one order, whose cursor has these parts. */
export const pagesBy =
  (order: string, ...parts: PartType[]) =>
  (query: Parameters<typeof pageOf>[0]) => ({ order, page: pageOf(query, order, parts) })

/** Answers with one page of records and the pagination, or the next cursor. Records may be JSON text. */
export function sendPage<T>(
  reply: FastifyReply,
  { records, total, next }: Found<T[] | Texts>,
  { order, page }: Pick<Listing, 'order' | 'page'>,
) {
  const is_text = 'text' in records
  const meta =
    total === null
      ? { per_page: page.per_page, next_cursor: next && encodeCursor(order, next) }
      : paginationOf(is_text ? records.count : records.length, total, page)
  return is_text
    ? sendText(reply, `[${records.text}]`, meta)
    : { success: true as const, data: records, meta }
}

/**
 * The pagination of a list without pages: one page with all records. If they do not fit, the first part with the next
 * cursor, and the total from `count`. A later part, requested by cursor, has no total.
 */
export async function wholeMeta(
  records: number,
  { cursor, order, next }: { cursor: string | undefined; order: string; next: readonly unknown[] | null },
  count: () => Promise<number>,
) {
  const per_page = Math.max(1, records)
  const next_cursor = next && encodeCursor(order, next)
  if (cursor !== undefined) return { per_page, next_cursor }
  const meta = paginationOf(records, next_cursor ? await count() : records, { page: 1, per_page })
  return next_cursor ? { ...meta, next_cursor } : meta
}
