import { type RawBuilder, sql } from 'kysely'

/** Lists leave out a longer field. So a page of the largest records is below the limit of an answer. */
export const listed_bytes = 8 * 1024

/** The size of a text in bytes; 0 for null. Both engines know it without reading the text. */
export const bytesOf = (column: string): RawBuilder<number> =>
  sql<number>`coalesce(octet_length(${sql.ref(column)}), 0)`

/** A text of at most `bytes` bytes; null for a longer one, which is not read. */
export const textUpTo = (column: string, bytes: number): RawBuilder<string | null> =>
  sql<string | null>`CASE WHEN ${bytesOf(column)} <= ${sql.lit(bytes)} THEN ${sql.ref(column)} END`

/** How many of the first rows fit into `max_bytes`, and their bytes. The first row always fits. */
export function fitting(rows: readonly { bytes: number }[], max_bytes: number) {
  let bytes = 0
  let count = 0
  for (const row of rows) {
    if (count > 0 && bytes + row.bytes > max_bytes) break
    bytes += row.bytes
    count++
  }
  return { count, bytes }
}
