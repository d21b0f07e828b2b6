import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Range, slicesOf } from '../../db/lists/slices.ts'
import { engineOf } from '../../db/tx.ts'
import { type LogQuery, type LogWindow, matching } from './log-slices.ts'

// Filters whose values an index of another table finds: the events of a record, the answers with a status code of failure, and the
// deliveries of an event. The log is then read along that index, in slices.

/** A part of an index: its slices, and the ids of deliveries that the rows of one have. */
type Source = { range: Range; idsIn: (where: RawBuilder<SqlBool>) => RawBuilder<SqlBool> }

// Reading this many events or attempts with their deliveries takes about 10 ms.
const slice_size = 1000
// The condition of the index webhook_attempts_status.
const least_indexed = 300
// PostgreSQL blocks no other request while it counts, and each slice is two round trips.
const counted_at_once = 20_000

/** The sources of a query, each with the filters that it leaves to check; null if no filter names a source. */
function sourcesOf(db: Db, workspace_id: number, query: LogQuery, before: string | null) {
  const mine = sql<SqlBool>`workspace_id = ${workspace_id}`
  // From IN, PostgreSQL may read the whole log.
  const among = (column: string, found: RawBuilder<unknown>) =>
    engineOf(db) === 'sqlite'
      ? sql<SqlBool>`${sql.ref(column)} IN (${found})`
      : sql<SqlBool>`${sql.ref(column)} = ANY(ARRAY(${found}))`
  if (query.event_id?.any.length) {
    const range = { table: 'webhook_deliveries', order: ['event_id', 'id'] }
    const along = sql<SqlBool>`${mine} AND event_id IN (${sql.join(query.event_id.any)})`
    const sources: Source[] = [{ range: { ...range, along }, idsIn: (where) => where }]
    return { sources, rest: { ...query, event_id: { ...query.event_id, any: [] } } }
  }
  if (query.record_id?.any.length) {
    const sources = query.record_id.any.map((id): Source => {
      const along = sql<SqlBool>`${mine} AND record_id = ${id}`
      return {
        range: { table: 'events', along, order: ['seq'], descending: true },
        idsIn: (where) => among('event_id', sql`SELECT e.id FROM events AS e WHERE ${where}`),
      }
    })
    return { sources, rest: { ...query, record_id: { ...query.record_id, any: [] } } }
  }
  // The index has failures only. Codes of success are those of most rows, which the log itself finds soon enough.
  if (!query.status_code?.any.length || Math.min(...query.status_code.any) < least_indexed) return null
  const first = before === null ? undefined : sql<SqlBool>`delivery_id < ${before}`
  const sources = query.status_code.any.map((code): Source => {
    const along = sql<SqlBool>`${mine} AND response_status = ${code} AND response_status >= ${sql.lit(least_indexed)}`
    return {
      range: { table: 'webhook_attempts', along, order: ['delivery_id', 'number'], descending: true, first },
      idsIn: (where) =>
        among('id', sql`SELECT delivery_id FROM webhook_attempts WHERE ${where} AND ${is_newest}`),
    }
  })
  return { sources, rest: { ...query, status_code: { ...query.status_code, any: [] } } }
}

const is_newest = sql`NOT EXISTS (SELECT 1 FROM webhook_attempts AS n
  WHERE n.workspace_id = webhook_attempts.workspace_id AND n.delivery_id = webhook_attempts.delivery_id
    AND n.number > webhook_attempts.number)`

/** The rows of the log that match, in parts. */
type Parts = {
  conditions: AsyncGenerator<RawBuilder<SqlBool>>
  /** Each part has lower ids than the part before. */
  in_order: boolean
}

/** Cuts the matching rows of the log into parts; null if no filter of the query names a source. */
function partsAlong(
  db: Db,
  workspace_id: number,
  query: LogQuery,
  before: string | null,
  size = slice_size,
): Parts | null {
  const found = sourcesOf(db, workspace_id, query, before)
  if (!found) return null
  const { sources, rest } = found
  const sign = engineOf(db) === 'sqlite' ? '+' : ''
  const up_to = before === null ? sql`TRUE` : sql`${sql.raw(sign)}id < ${before}`
  const others = matching(rest, sign)
  async function* conditions() {
    for (const { range, idsIn } of sources)
      for await (const { where } of slicesOf(db, range, size))
        yield sql<SqlBool>`workspace_id = ${workspace_id} AND ${idsIn(where)} AND ${up_to} AND ${others}`
  }
  return {
    conditions: conditions(),
    in_order: sources.length === 1 && rest.status_code !== query.status_code,
  }
}

/** The ids of a page of the log, newest first; null if no filter of the query names a source. */
export async function idsAlong(
  db: Db,
  workspace_id: number,
  query: LogQuery,
  { limit, offset, before }: LogWindow,
): Promise<string[] | null> {
  const parts = partsAlong(db, workspace_id, query, before)
  if (!parts) return null
  const wanted = offset + limit
  let newest: string[] = []
  for await (const where of parts.conditions) {
    // coalesce prevents a scan in the order of the ids, which would read rows of other slices.
    const { rows } = await sql<{ id: string }>`SELECT id FROM webhook_deliveries
      WHERE ${where} ORDER BY coalesce(id, NULL) DESC LIMIT ${wanted}`.execute(db)
    const ids = [...newest, ...rows.map(({ id }) => id)]
    newest = (parts.in_order ? ids : ids.sort().reverse()).slice(0, wanted)
    if (parts.in_order && newest.length === wanted) break
  }
  return newest.slice(offset)
}

/** Counts the matching deliveries; null if no filter of the query names a source. */
export async function countAlong(db: Db, workspace_id: number, query: LogQuery): Promise<number | null> {
  const size = engineOf(db) === 'sqlite' ? slice_size : counted_at_once
  const parts = partsAlong(db, workspace_id, query, null, size)
  if (!parts) return null
  let counted = 0
  for await (const where of parts.conditions) {
    const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM webhook_deliveries
      WHERE ${where}`.execute(db)
    counted += Number(rows[0]?.n)
  }
  return counted
}
