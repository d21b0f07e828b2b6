import type { Selectable } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import type { MergesTable } from '../../db/tables.ts'
import { notFound } from '../../errors.ts'
import { storedActor } from '../../events/actors.ts'
import type { Context } from '../../events/context.ts'
import { lease_ms } from '../../work/run.ts'
import type { Wanted } from './plan.ts'

// The rows that keep a merge: what it is, how far it has come, and what an undo needs.

/** A merge: its records, and whose values the survivor gets. */
export type Merge = Pick<
  Selectable<MergesTable>,
  'id' | 'workspace_id' | 'kind' | 'survivor_id' | 'status' | 'changes' | 'created_at' | 'restored'
> & { from_ids: number[]; wanted: Wanted }

/** The records of a merge, in the order in which their rows are locked. */
export const recordsOfMerge = ({ survivor_id, from_ids }: Pick<Merge, 'survivor_id' | 'from_ids'>) =>
  [survivor_id, ...from_ids].sort((a, b) => a - b)

/** The work that is left of a merge. The request that began it does the work. */
export const workOfMerge = ({ id, kind }: Pick<Merge, 'id' | 'kind'>) =>
  ({ kind: 'merge', subject: String(id), position: kind, lease_ms }) as const

type NewMerge = Pick<Merge, 'kind' | 'survivor_id' | 'from_ids' | 'wanted'>

/** Adds a merge that has begun. */
export async function insertMerge(tx: Tx, context: Context, merge: NewMerge): Promise<Merge> {
  const { workspace_id, actor, now } = context
  const { kind, survivor_id, from_ids, wanted } = merge
  const begun = { status: 'running', changes: null, created_at: now, restored: 0 } as const
  const { id } = await tx
    .insertInto('merges')
    .values({
      ...begun,
      workspace_id,
      kind,
      survivor_id,
      from_ids: JSON.stringify(from_ids),
      wanted: JSON.stringify(wanted),
      created_by: storedActor(actor),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...begun, ...merge, id, workspace_id }
}

/** The merge that is doing or has done the same: with this survivor, these records and these values. Null without one. */
export async function sameMerge(
  tx: Tx,
  { workspace_id }: Context,
  { kind, survivor_id, from_ids, wanted }: NewMerge,
): Promise<Merge | null> {
  const merged = await tx
    .selectFrom('merged_records')
    .select('merge_id')
    .where((eb) => eb.and({ workspace_id, kind }))
    .where('record_id', 'in', from_ids)
    .limit(1)
    .executeTakeFirst()
  const row = await tx
    .selectFrom('merges')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, kind }))
    .where((eb) => (merged ? eb('id', '=', merged.merge_id) : eb('status', '=', 'running')))
    .where('survivor_id', '=', survivor_id)
    .where('from_ids', '=', JSON.stringify(from_ids))
    .where('wanted', '=', JSON.stringify(wanted))
    .executeTakeFirst()
  return row ? { ...row, from_ids, wanted } : null
}

/** A merge, locked until the end of the transaction; 404 without one. */
export async function lockMerge(tx: Tx, workspace_id: number, id: number): Promise<Merge> {
  const query = tx
    .selectFrom('merges')
    .selectAll()
    .where((eb) => eb.and({ workspace_id, id }))
  const row = await query.modifyEnd(rowLock(tx, 'FOR UPDATE')).executeTakeFirst()
  if (!row) throw notFound('This merge')
  return { ...row, from_ids: JSON.parse(row.from_ids), wanted: JSON.parse(row.wanted) }
}

type Progress = Partial<Pick<Merge, 'status' | 'changes' | 'restored'>> & { undone_at?: string }

/** Writes how far a merge has come. */
export async function updateMerge(
  tx: Tx,
  { workspace_id, id }: Pick<Merge, 'workspace_id' | 'id'>,
  progress: Progress,
): Promise<void> {
  await tx
    .updateTable('merges')
    .set(progress)
    .where((eb) => eb.and({ workspace_id, id }))
    .execute()
}

/** The unfinished merges of a kind. */
export async function unfinishedMerges(tx: Tx, workspace_id: number, kind: string) {
  const rows = await tx
    .selectFrom('merges')
    .select(['id', 'survivor_id', 'from_ids'])
    .where((eb) => eb.and({ workspace_id, kind }))
    .where('status', 'in', ['running', 'undoing'])
    .execute()
  return rows.map(({ id, survivor_id, from_ids }) => ({
    id,
    record_ids: [survivor_id, ...(JSON.parse(from_ids) as number[])],
  }))
}

/** A record that an undo left as it is. */
export type Left = { kind: string; id: number; reason: string }

/** Notes that an undo leaves a record of the merge itself as it is. */
export async function leaveRecord(tx: Tx, merge: Merge, record_id: number, reason: string): Promise<void> {
  const { workspace_id, id: merge_id, kind } = merge
  await tx
    .insertInto('merge_links')
    .values({ workspace_id, merge_id, kind, record_id, field: '', from_id: null, updated_at: null, reason })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'merge_id', 'kind', 'record_id', 'field']).doUpdateSet({ reason }),
    )
    .execute()
}

/** The most records that the answer of an undo names. */
export const max_left = 1000

/** The records that an undo left, up to 1000, and their number. */
export async function leftOf(
  tx: Tx,
  { workspace_id, id }: Pick<Merge, 'workspace_id' | 'id'>,
): Promise<{ left: Left[]; count: number }> {
  const rows = tx
    .selectFrom('merge_links')
    .where((eb) => eb.and({ workspace_id, merge_id: id }))
    .where('reason', 'is not', null)
  const left = await rows
    .select(['kind', 'record_id', 'reason'])
    .orderBy('kind')
    .orderBy('record_id')
    .limit(max_left)
    .execute()
  const { n } = await rows.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return {
    left: left.map(({ kind, record_id, reason }) => ({ kind, id: record_id, reason: reason ?? '' })),
    count: Number(n),
  }
}
