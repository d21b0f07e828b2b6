import { type Tx, transaction } from '../db/db.ts'
import { blankLinesOf, type FileRow, linesOf } from '../files/rows.ts'
import { keepErrors } from './errors.ts'
import type { Running } from './rows.ts'
import type { KindCounts } from './schema.ts'
import { holdImport, type ImportRow } from './store.ts'

// The counters and the position of an import, stored with the rows that they count.

/** Counts the rows of parts in a dry run, with the problems of those that cannot be read. */
export async function countParts({ db, clock, row }: Running, rows: readonly FileRow[]): Promise<void> {
  const errors = rows.flatMap((one) => (one.problem ? [{ row: one, field: '', ...one.problem }] : []))
  const progress = await transaction(db, async (tx) => {
    await holdImport(tx, row, clock)
    const [failed, skipped] = [errors.length, blankLinesOf(rows)]
    const created = linesOf(rows) - skipped - failed
    const counts = { created, updated: 0, skipped, failed }
    return saveProgress(tx, row, rows, { ...counts, errors: keepErrors(tx, row, errors) })
  })
  Object.assign(row, progress)
}

/** The counters and the position of an import. */
export type Progress = Pick<
  ImportRow,
  | 'rows_read'
  | 'created'
  | 'updated'
  | 'skipped'
  | 'failed'
  | 'kinds'
  | 'errors'
  | 'last_row'
  | 'progress'
  | 'claims'
  | 'account'
>

/** The counters of rows that did nothing. */
export const nothing_done = { created: 0, updated: 0, skipped: 0, failed: 0, errors: 0 }

type Counts = Omit<KindCounts, 'kind'>

const sumOf = (before: Counts, rows: readonly FileRow[], added: Omit<Counts, 'rows_read'>): Counts => ({
  rows_read: before.rows_read + linesOf(rows),
  created: before.created + added.created,
  updated: before.updated + added.updated,
  skipped: before.skipped + added.skipped,
  failed: before.failed + added.failed,
})

/** Stores the counters and the position after rows of one kind; returns them. */
export async function saveProgress(
  tx: Tx,
  row: ImportRow,
  rows: readonly FileRow[],
  { account = row.account, ...added }: typeof nothing_done & { account?: string },
): Promise<Progress> {
  const progress: Progress = {
    ...sumOf(row, rows, added),
    kinds: JSON.stringify(countKind(row, rows, added)),
    errors: row.errors + added.errors,
    last_row: rows.at(-1)?.number ?? row.last_row,
    progress: row.progress,
    claims: 0,
    account,
  }
  await tx.updateTable('imports').set(progress).where('id', '=', row.id).execute()
  return progress
}

/** The counters by kind with those of some rows. The kinds of an archive come one after the other. */
function countKind(
  { resource, kinds }: ImportRow,
  rows: readonly FileRow[],
  added: typeof nothing_done,
): KindCounts[] {
  const kind = rows[0]?.archived?.kind ?? resource
  const all: KindCounts[] = JSON.parse(kinds)
  const before = all.find((one) => one.kind === kind) ?? { ...nothing_done, rows_read: 0 }
  return [...all.filter((one) => one.kind !== kind), { kind, ...sumOf(before, rows, added) }]
}
