import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { Deletable } from '../records.ts'
import { perKey, prepare } from '../statements/prepare.ts'
import type { Window } from './lists.ts'

// Below this offset, skipping records one by one costs less than reading the blocks.
const deep_from = 500
export const block_size = 4096

const blocksOf = prepare((p: { workspace_id: number; kind: Deletable }, db) =>
  db
    .selectFrom('record_blocks')
    .select(['block', (eb) => eb.fn.sum<number>('n').as('n')])
    .where((eb) => eb.and({ workspace_id: p.workspace_id, kind: p.kind }))
    .groupBy('block')
    .orderBy('block', 'desc'),
)

// All tables have these columns, so use the type of one of them.
const live = (db: Db, table: Deletable, workspace_id: number) =>
  db
    .selectFrom(table as 'contacts')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', 'is', null)
    .orderBy('id', 'desc')

/** A column and the value that records have in it. In its index, the id comes next. */
export type Match = { column: string; value: string | number }

type Slice = { workspace_id: number; below: number; limit: number; offset: number; value: string | number }
// A key names the table, and the column of a match.
const idsBelow = perKey((key: string) => {
  const [table, column] = key.split(' ') as [Deletable, string?]
  return prepare((p: Slice, db) => {
    const records = live(db, table, p.workspace_id).limit(p.limit).offset(p.offset)
    return column === undefined
      ? records.where('id', '<', p.below)
      : records.where('id', '<', p.below).where(sql.ref<string | number>(column), '=', p.value)
  })
})

/**
 * The ids of some of a table's live records, newest first: of all, or of those of a match. Of all records it skips at
 * most 4,096 one by one, at any offset. The totals of whole blocks of ids, which triggers keep, skip the rest.
 */
export async function newestIds(
  db: Db,
  table: Deletable,
  workspace_id: number,
  { limit, offset, after }: Window,
  match?: Match,
): Promise<number[]> {
  const newest = { end: Number(after?.[0] ?? Number.MAX_SAFE_INTEGER), skip: offset }
  const start = match || offset < deep_from ? newest : await blockOf(db, table, workspace_id, offset)
  if (!start) return []
  const rows = await idsBelow(match ? `${table} ${match.column}` : table)(db, {
    workspace_id,
    below: start.end,
    limit,
    offset: start.skip,
    value: match?.value ?? '',
  })
  return rows.map(({ id }) => id)
}

/** Finds the block that contains an offset: the first id after it, and how many of its records precede the offset. */
async function blockOf(db: Db, kind: Deletable, workspace_id: number, offset: number) {
  const blocks = await blocksOf(db, { workspace_id, kind })
  // A table without the triggers has no blocks, so skip records one by one.
  if (!blocks.length) return { end: Number.MAX_SAFE_INTEGER, skip: offset }
  let skip = offset
  for (const { block, n } of blocks) {
    if (skip < n) return { end: (block + 1) * block_size, skip }
    skip -= n
  }
  return undefined
}
