import { day_ms } from '../../clock.ts'
import type { Tx } from '../../db/db.ts'
import { mergeOf } from '../../db/merged.ts'
import { addWork } from '../../db/work.ts'
import { conflict } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { Item } from '../../resources/batch/items.ts'
import { putBack } from '../../resources/batch/undo.ts'
import { type MergeKind, moveBack, prepareEvents, unconditional } from './links.ts'
import { changeAccepted, findRecord, lockRecords, step_ms } from './merge.ts'
import { planUndo, type SurvivorChanges } from './plan.ts'
import { leaveRecord, lockMerge, type Merge, updateMerge, workOfMerge } from './state.ts'

// An undo restores the merged records first. Then it gives back what referred to them, in transactions of a limited time. So
// each reference names a live record at any time.

/** Begins to undo a merge; one that is undone stays as it is. Throws 404 and 409. */
export async function beginUndo(
  tx: Tx,
  context: Context,
  kind: MergeKind,
  id: number,
  trash_days: number,
): Promise<Merge> {
  prepareEvents(tx, context, kind)
  const merge = await lockMerge(tx, context.workspace_id, id)
  if (merge.status === 'undone' || merge.status === 'undoing') return merge
  await refuseUndo(tx, context, kind, merge, trash_days)
  await lockRecords(tx, context, kind, merge)
  const rows = await tx
    .deleteFrom('merged_records')
    .where((eb) => eb.and({ workspace_id: merge.workspace_id, merge_id: id }))
    .returning('record_id')
    .execute()
  const merged = merge.from_ids.filter((one) => rows.some(({ record_id }) => record_id === one))
  if (merged.length)
    await tx
      .deleteFrom('merged_values')
      .where((eb) => eb.and({ workspace_id: merge.workspace_id, kind: merge.kind }))
      .where('record_id', 'in', merged)
      .execute()
  let { restored } = merge
  if (await putSurvivorBack(tx, context, kind, merge)) restored++
  const items = merged.map((record_id): Item => ({ op: 'restore', id: record_id }))
  const { left } = await putBack(tx, context, kind.room, items, true)
  restored += items.length - left.size
  // It was removed for good, or another record has a unique value of it.
  for (const [record_id, reason] of left)
    await leaveRecord(tx, merge, record_id, reason === 'not_found' ? reason : 'refused')
  // Somebody else deleted it while the merge was running.
  for (const record_id of merge.from_ids)
    if (!merged.includes(record_id) && !(await findRecord(tx, context, kind, record_id)))
      await leaveRecord(tx, merge, record_id, 'deleted')
  const after = { merge_id: id, merged_from_ids: merge.from_ids }
  recordChange(tx, context, {
    action: 'merge_undone',
    kind: merge.kind,
    record_id: merge.survivor_id,
    after,
  })
  await updateMerge(tx, merge, { status: 'undoing', restored })
  const begun = await continueUndo(tx, context, kind, id)
  if (begun.status === 'undoing') addWork(tx, context, workOfMerge(begun))
  return begun
}

async function refuseUndo(
  tx: Tx,
  { workspace_id, now_ms }: Context,
  { resource }: MergeKind,
  { status, survivor_id, changes, created_at }: Merge,
  trash_days: number,
): Promise<void> {
  if (status === 'running') throw conflict('merge_running', 'The merge is not finished. Try again later.')
  if (Date.parse(created_at) + trash_days * day_ms < now_ms)
    throw conflict(
      'merge_too_old',
      `The merge is older than ${trash_days} days. It can no longer be undone.`,
      { days: trash_days },
    )
  if (changes === null)
    throw conflict('merge_erased', 'A record of the merge was erased. It can no longer be undone.')
  const later = await mergeOf(tx, workspace_id, resource.table, survivor_id)
  if (later)
    throw conflict(
      'merged_again',
      `The ${resource.noun} ${survivor_id} was merged into ${later.survivor_id}. Undo merge ${later.merge_id} first.`,
      later,
    )
}

/** Gives the survivor its values back where nobody has changed them since. True if all went back, and there were any. */
async function putSurvivorBack(tx: Tx, context: Context, kind: MergeKind, merge: Merge): Promise<boolean> {
  const changes = JSON.parse(merge.changes ?? '') as SurvivorChanges
  if (!Object.keys(changes.after).length) return false
  const { survivor_id } = merge
  const survivor = await findRecord(tx, context, kind, survivor_id)
  if (!survivor) {
    await leaveRecord(tx, merge, survivor_id, 'deleted')
    return false
  }
  const { body, is_changed } = planUndo(survivor, changes)
  const change = (values: object) => kind.operations.change(tx, context, survivor_id, values, unconditional)
  const set = await changeAccepted(change, body, () => true)
  const is_refused = Object.keys(set).length < Object.keys(body).length
  if (is_changed || is_refused) await leaveRecord(tx, merge, survivor_id, is_changed ? 'changed' : 'refused')
  return !is_changed && !is_refused
}

/** Continues an undo for one transaction. */
export async function continueUndo(tx: Tx, context: Context, kind: MergeKind, id: number): Promise<Merge> {
  prepareEvents(tx, context, kind)
  const merge = await lockMerge(tx, context.workspace_id, id)
  if (merge.status !== 'undoing') return merge
  const { count, is_done } = await moveBack(tx, context, kind, merge, performance.now() + step_ms)
  const restored = merge.restored + count
  const status = is_done ? ('undone' as const) : merge.status
  await updateMerge(tx, merge, {
    status,
    restored,
    ...(is_done && { changes: '{}', undone_at: context.now }),
  })
  return { ...merge, status, restored }
}

/**
 * Takes back a merge that cannot be completed; false if it is not running. Nothing was merged yet, so only what was moved goes
 * back.
 */
export async function abandonMerge(tx: Tx, { workspace_id }: Context, id: number): Promise<boolean> {
  const merge = await lockMerge(tx, workspace_id, id)
  if (merge.status === 'running') await updateMerge(tx, merge, { status: 'undoing' })
  return merge.status === 'running'
}
