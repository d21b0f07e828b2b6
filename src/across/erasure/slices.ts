import { setImmediate as others } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { engineOf } from '../../db/statements/prepare.ts'

// Texts of that size are read, searched and written anew in about 10 ms.
const most_bytes = 1024 * 1024
const most_rows = 200
// So many entries of an index are read in about 2 ms.
const seen_at_once = 2000
const longest_ms = 10

/**
 * A function to call between two pieces of work that is not a statement of a transaction: it lets the event loop turn when
 * the pieces since the last time took longer than 10 ms.
 */
export function createPace(): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < longest_ms) return
    await others()
    began = performance.now()
  }
}

/** Cuts a list, in its order, into pieces of at most 200 rows and 1 MiB; a larger row is a piece of its own. */
export function* piecesOf<Row extends { bytes: number }>(rows: readonly Row[]): Generator<Row[]> {
  let piece: Row[] = []
  let sum = 0
  for (const row of rows) {
    if (piece.length && (piece.length === most_rows || sum + row.bytes > most_bytes)) {
      yield piece
      piece = []
      sum = 0
    }
    piece.push(row)
    sum += row.bytes
  }
  if (piece.length) yield piece
}

/** The size of texts, which both engines know without reading them. */
export const bytesOf = (...columns: string[]) =>
  sql<number>`${sql.join(
    columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
    sql` + `,
  )}`

type Entry = { id: number; occurred_at: string; bytes: number }

/** The ids of the audit log's entries of some records that tell of a side, in pieces. */
export async function* entriesOf(
  db: Db,
  workspace_id: number,
  kind: string,
  record_ids: readonly (number | string)[],
): AsyncGenerator<number[]> {
  // PostgreSQL holds nobody up, and each statement is a journey.
  const together = engineOf(db) === 'postgres' ? most_rows : 1
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
