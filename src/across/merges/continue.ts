import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { type ApiError, conflict, type Facts } from '../../errors.ts'
import type { contextOf } from '../../events/context.ts'
import { finishWork, type Progress, type Work, type WorkSteps } from '../../work/run.ts'
import type { MergeKind } from './links.ts'
import { continueMerge } from './merge.ts'
import type { Merge } from './state.ts'
import { abandonMerge, continueUndo } from './undo.ts'

/** The steps of a merge or its undo, each of a limited time. */
export const mergeWork = (kinds: ReadonlyMap<string, MergeKind>): WorkSteps<string> => ({
  kind: 'merge',
  source: 'merge',
  refused: takeBack,
  async step(tx, { subject, position, context }) {
    const [kind, id] = [kinds.get(position), Number(subject)]
    if (!kind) throw new Error(`${position} cannot be merged.`)
    let { status } = await continueMerge(tx, context, kind, id)
    if (status === 'undoing') ({ status } = await continueUndo(tx, context, kind, id))
    return status === 'running' || status === 'undoing' ? {} : 'done'
  },
})

/** Takes back a merge that cannot be completed. */
async function takeBack(tx: Tx, { subject, context }: Work, error: ApiError): Promise<Progress<string>> {
  if (await abandonMerge(tx, context, Number(subject))) return {}
  throw error
}

type Who = Omit<Parameters<typeof contextOf>[1], 'workspace_id'>

/** Completes a merge or its undo. Throws the reason for which a merge was taken back. */
export async function finish(
  deps: { db: Db; clock: Clock },
  work: WorkSteps<string>,
  { workspace_id, id, status }: Merge,
  who: Who,
  stopping: AbortSignal,
): Promise<void> {
  let reason: ApiError | null = null
  const refused: typeof takeBack = (tx, one, error) => {
    reason = error
    return takeBack(tx, one, error)
  }
  await finishWork(deps, { ...work, refused }, { workspace_id, subject: String(id), who }, stopping)
  if (reason) throw takenBack(reason)
  if (status === 'running' && (await statusOf(deps.db, workspace_id, id)) === 'undone')
    throw conflict('merge_taken_back', 'The merge was taken back meanwhile. Send it again.')
}

async function statusOf(db: Db, workspace_id: number, id: number) {
  const row = await db
    .selectFrom('merges')
    .select('status')
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirst()
  return row?.status
}

function takenBack({ code, reason, facts, message, fields = [] }: ApiError): ApiError {
  const reasons = fields.length ? fields.map((field) => field.message) : [message]
  const [first] = fields
  const because: Facts = first ? { field: first.field, because: first.code } : { because: reason ?? code }
  return conflict('merge_taken_back', `The merge was taken back. ${reasons.join(' ')}`, {
    ...facts,
    ...because,
  })
}

const batch = 100

/** Removes what an undo would need of merges that can no longer be undone. That a record was merged stays known. */
export async function forgetOldMerges(
  db: Db,
  clock: Clock,
  trash_days: number,
  stopping: AbortSignal,
): Promise<void> {
  const before = isoTime(clock.now() - trash_days * day_ms)
  for (let count = batch; count === batch; ) {
    stopping.throwIfAborted()
    const old = await db
      .selectFrom('merges')
      .select(['workspace_id', 'id'])
      .where('created_at', '<', before)
      .where('changes', 'is not', null)
      .where('status', 'in', ['done', 'undone'])
      .orderBy('created_at')
      .limit(batch)
      .execute()
    for (const { workspace_id, id } of old)
      await transaction(db, async (tx) => {
        const links = tx.deleteFrom('merge_links').where('workspace_id', '=', workspace_id)
        await links.where('merge_id', '=', id).execute()
        const merge = tx.updateTable('merges').set({ changes: null }).where('workspace_id', '=', workspace_id)
        await merge.where('id', '=', id).execute()
      })
    count = old.length
  }
}
