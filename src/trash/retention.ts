import { type Clock, isoTime } from '../clock.ts'
import { type Db, transaction } from '../db/db.ts'
import { engineOf } from '../db/prepare.ts'
import { type Deletable, deletable, going } from '../db/records.ts'
import type { Seal } from '../db/seal.ts'
import { forgetSearched } from '../db/search.ts'
import { contextOf } from '../events/context.ts'
import { eraseRecord } from './erasure.ts'
import { removeRecords } from './removal.ts'

export const day_ms = 24 * 3600 * 1000
/** When the trash is emptied: after the start, and from then on. */
export const emptying = { first_ms: 15_000, every_ms: 3600 * 1000 }
const batch = 200

type Deps = { db: Db; clock: Clock; seal: Seal; trash_days: number }

/**
 * Removes for good what has been in the trash for its days, and does to the end what a crash left half done. Several
 * processes may do it at once: each takes other records, and what two have taken is removed once.
 */
export async function emptyTrash({ db, clock, seal, trash_days }: Deps): Promise<void> {
  const before = isoTime(clock.now() - trash_days * day_ms)
  const workspaces = await db.selectFrom('workspaces').select('id').orderBy('id').execute()
  const failures: unknown[] = []
  const gone = Object.fromEntries(deletable.map((kind) => [kind, 0])) as Record<Deletable, number>
  // What cannot be done for one must not keep the others from it.
  for (const { id: workspace_id } of workspaces)
    for (const kind of deletable)
      await emptyKind({ db, clock, seal }, workspace_id, kind, before).then(
        (count) => (gone[kind] += count),
        (error) => failures.push(error),
      )
  if (gone.contacts) await forgetSearched(db)
  if (failures.length) throw failures[0]
}

async function emptyKind(
  { db, clock, seal }: Omit<Deps, 'trash_days'>,
  workspace_id: number,
  kind: Deletable,
  before: string,
): Promise<number> {
  const actor = { kind: 'service', id: null } as const
  const context = () => contextOf(clock, { workspace_id, actor, request_id: null })
  const half = await db
    .selectFrom(kind as 'contacts')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', '=', going.erasing)
    .execute()
  const failures: unknown[] = []
  for (const { id } of half)
    await eraseRecord(db, seal, context(), kind, id).catch((error) => failures.push(error))
  let removed = 0
  for (let count = batch; count === batch; removed += count) {
    const ids = await transaction(db, (tx) => takeOld(tx, workspace_id, kind, before))
    await removeRecords(db, context(), kind, ids, 'removed')
    count = ids.length
  }
  if (failures.length) throw failures[0]
  return removed
}

/** Takes up to 200 records whose days are over: from here on nothing brings them back. */
async function takeOld(tx: Db, workspace_id: number, kind: Deletable, before: string): Promise<number[]> {
  const old = tx
    .selectFrom(kind as 'contacts')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('deleted_at', '<=', before)
    .where('deleted_at', '<>', going.erasing)
    .orderBy('deleted_at')
    .limit(batch)
  const rows = await (engineOf(tx) === 'postgres' ? old.forUpdate().skipLocked() : old).execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length)
    await tx
      .updateTable(kind as 'contacts')
      .set({ deleted_at: going.removing })
      .where('workspace_id', '=', workspace_id)
      .where('id', 'in', ids)
      .execute()
  return ids
}

/** Empties the trash soon and every hour; returns the function that stops it. */
export function startEmptying(
  deps: Deps,
  onError: (error: unknown) => void,
  { first_ms, every_ms } = emptying,
): () => void {
  const run = () => void emptyTrash(deps).catch(onError)
  const first = setTimeout(run, first_ms)
  const timer = setInterval(run, every_ms)
  for (const one of [first, timer]) one.unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}
