import { type RawBuilder, sql } from 'kysely'

/** A longer field is left out of lists, so that a page of the largest records stays below the limit of an answer. */
export const listed_bytes = 8 * 1024

/** How many bytes a text has, 0 for none. Both engines know that without reading the text. */
export const bytesOf = (column: string): RawBuilder<number> =>
  sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`

/** A text of at most so many bytes; null in place of a longer one, which is not read. */
export const textUpTo = (column: string, bytes: number): RawBuilder<string | null> =>
  sql<string | null>`CASE WHEN ${bytesOf(column)} <= ${sql.lit(bytes)} THEN ${sql.ref(column)} END`

/** How many of the first rows have up to so many bytes together, and how many bytes that is; the first one in any case. */
export function fitting(rows: readonly { bytes: number }[], most_bytes: number) {
  let bytes = 0
  let count = 0
  for (const row of rows) {
    if (count > 0 && bytes + row.bytes > most_bytes) break
    bytes += row.bytes
    count++
  }
  return { count, bytes }
}
