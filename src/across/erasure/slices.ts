import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { fitting, bytesOf as sizeOf } from '../../db/sizes.ts'
import { engineOf } from '../../db/tx.ts'

// Texts of this size are read, searched and written in about 10 ms.
const max_bytes = 1024 * 1024
const max_rows = 200
// This many entries of an index are read in about 2 ms.
const seen_at_once = 2000

/** Cuts a list, in its order, into pieces of at most 200 rows and 1 MiB. A larger row is a piece of its own. */
export function* piecesOf<Row extends { bytes: number }>(rows: readonly Row[]): Generator<Row[]> {
  for (let from = 0; from < rows.length; ) {
    const some = rows.slice(from, from + max_rows)
    const { count } = fitting(some, max_bytes)
    yield some.slice(0, count)
    from += count
  }
}

/** Cuts a list into batches of at most 200. */
export const batchesOf = (ids: readonly number[]): number[][] =>
  Array.from({ length: Math.ceil(ids.length / max_rows) }, (_, i) =>
    ids.slice(i * max_rows, (i + 1) * max_rows),
  )

/** The size of texts in bytes. Both engines know it without reading the texts. */
export const bytesOf = (...columns: string[]) => sql<number>`${sql.join(columns.map(sizeOf), sql` + `)}`

type Entry = { id: number; occurred_at: string; bytes: number }

/** The ids of the audit entries of some records that have a side, in pieces. */
export async function* entriesOf(
  db: Db,
  workspace_id: number,
  kind: string,
  record_ids: readonly (number | string)[],
): AsyncGenerator<number[]> {
  // On PostgreSQL a statement is a round trip, and does not block other requests.
  const together = engineOf(db) === 'postgres' ? max_rows : 1
  for (let from = 0; from < record_ids.length; from += together) {
    const some = record_ids.slice(from, from + together).map(String)
    for (let last: Entry | undefined; ; ) {
      const { rows } = await entries(db, workspace_id, kind, some, last)
      for (const piece of piecesOf(rows.filter(({ bytes }) => bytes > 0))) yield piece.map(({ id }) => id)
      last = rows.at(-1)
      if (!last || rows.length < seen_at_once) break
    }
  }
}

const entries = (db: Db, workspace_id: number, kind: string, ids: string[], last: Entry | undefined) =>
  sql<Entry>`
    SELECT id, occurred_at, ${bytesOf('before', 'after')} AS bytes FROM audit_log
    WHERE workspace_id = ${workspace_id} AND kind = ${kind} AND record_id IN (${sql.join(ids)})
      ${last ? sql`AND (occurred_at, id) > (${last.occurred_at}, ${last.id})` : sql``}
    ORDER BY occurred_at, id LIMIT ${seen_at_once}`.execute(db)
