import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { batch } from '../../db/batches.ts'
import { type Tx, transaction } from '../../db/db.ts'
import { forgetSearched } from '../../db/lists/search.ts'
import { rowLock } from '../../db/locks.ts'
import { type Deletable, pending_removal } from '../../db/records.ts'
import { contextOf } from '../../events/context.ts'
import { byDependency } from '../../resources/derived.ts'
import type { Resource } from '../../resources/resource.ts'
import { type ErasureDeps, eraseRecord } from '../erasure/erasure.ts'
import { removeRecords } from './removal.ts'

type Deps = ErasureDeps & {
  clock: Clock
  trash_days: number
  /** Completes interrupted removals and erasures only, and starts no others. */
  begun_only?: boolean
}

/**
 * Removes records that have been in the trash for `trash_days`, and completes what a crash interrupted. Several processes
 * may run it at once: a record that two processes have taken is removed once. It may be stopped between two batches.
 */
export async function emptyTrash({ trash_days, begun_only, ...deps }: Deps): Promise<void> {
  const { db, clock, stopping } = deps
  const before = begun_only ? pending_removal.removing : isoTime(clock.now() - trash_days * day_ms)
  const workspaces = await db.selectFrom('workspaces').select('id').orderBy('id').execute()
  const failures: unknown[] = []
  let forgotten = false
  const forget = async () => {
    if (!forgotten) await forgetSearched(db)
    forgotten = true
  }
  for (const { id: workspace_id } of workspaces)
    for (const resource of byDependency(deps.resources)) {
      stopping?.throwIfAborted()
      // An error of one resource must not stop the others.
      await emptyOf({ ...deps, before, forget }, workspace_id, resource).catch((error) =>
        failures.push(error),
      )
    }
  if (failures.length) throw failures[0]
}

type Run = Omit<Deps, 'trash_days'> & {
  before: string
  /** Removes deleted records from the search index. Further calls do nothing. */
  forget: () => Promise<void>
}

async function emptyOf(
  { clock, before, forget, ...deps }: Run,
  workspace_id: number,
  resource: Resource,
): Promise<void> {
  const kind = resource.table
  const { db, stopping } = deps
  const actor = { kind: 'service', id: null } as const
  const context = () => contextOf(clock, { workspace_id, actor, request_id: null })
  const half = await db
    .selectFrom(kind as 'contacts')
    .select('id')
    .where((eb) => eb.and({ workspace_id, deleted_at: pending_removal.erasing }))
    .execute()
  const failures: unknown[] = []
  for (const { id } of half) {
    stopping?.throwIfAborted()
    await eraseRecord(deps, context(), resource, id).catch((error) => failures.push(error))
  }
  for (let count = batch; count === batch; ) {
    stopping?.throwIfAborted()
    const ids = await transaction(db, (tx) => takeOld(tx, workspace_id, kind, before))
    // Do this before the rows are removed: an interrupted run finds its work by the rows.
    if (resource.search_index && ids.length) await forget()
    const removal = { resource, ids, action: 'removed' } as const
    await removeRecords(db, context(), deps.resources, removal, stopping)
    count = ids.length
  }
  if (failures.length) throw failures[0]
}

/** Takes up to 200 records whose days are over. They can no longer be restored. */
async function takeOld(tx: Tx, workspace_id: number, kind: Deletable, before: string): Promise<number[]> {
  const old = tx
    .selectFrom(kind as 'contacts')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', '<=', before)
    .where('deleted_at', '<>', pending_removal.erasing)
    .orderBy('deleted_at')
    .limit(batch)
  const rows = await old.modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED')).execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length)
    await tx
      .updateTable(kind as 'contacts')
      .set({ deleted_at: pending_removal.removing })
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', ids)
      .execute()
  return ids
}
