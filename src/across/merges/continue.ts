import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { type Db, transaction } from '../../db/db.ts'
import { ApiError, conflict, type Facts } from '../../errors.ts'
import { actorOf } from '../../events/actors.ts'
import { contextOf } from '../../events/context.ts'
import type { Room } from '../../resources/room.ts'
import { type MergeKind, mergeKinds } from './links.ts'
import { continueMerge } from './merge.ts'
import type { Merge } from './state.ts'
import { abandonMerge, continueUndo } from './undo.ts'

const max_pause_ms = 50

type Deps = { db: Db; clock: Clock; rooms: readonly Room[] }
type Who = Omit<Parameters<typeof contextOf>[1], 'workspace_id'>

/**
 * Completes a merge or its undo, in transactions of a limited time. Another process may do the same. A merge that cannot be
 * completed is taken back; then this throws the reason.
 */
export async function finish(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  kind: MergeKind,
  begun: Merge,
  who: Who,
  stopping?: AbortSignal,
): Promise<void> {
  const { workspace_id, id } = begun
  const context = () => contextOf(clock, { ...who, workspace_id, source: 'merge' })
  let reason: ApiError | null = null
  let { status } = begun
  while (status === 'running' || status === 'undoing') {
    stopping?.throwIfAborted()
    const began = performance.now()
    const step = status === 'running' ? continueMerge : continueUndo
    const next = await transaction(db, (tx) => step(tx, context(), kind, id)).catch((error) => {
      if (!(error instanceof ApiError) || status !== 'running') throw error
      reason = error
      return transaction(db, (tx) => abandonMerge(tx, context(), id))
    })
    ;({ status } = next)
    // Leave at least half of the time to others.
    await pause(Math.min(performance.now() - began, max_pause_ms))
  }
  if (reason) throw takenBack(reason)
  if (begun.status === 'running' && status === 'undone')
    throw conflict('merge_taken_back', 'The merge was taken back meanwhile. Send it again.')
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

/** Completes merges and undos whose process has stopped. An error of one does not stop the others. */
export async function continueMerges({ db, clock, rooms }: Deps, stopping: AbortSignal): Promise<void> {
  const kinds = mergeKinds(rooms)
  const failures: unknown[] = []
  const half = await db
    .selectFrom('merges')
    .select(['workspace_id', 'id', 'kind', 'status', 'worked_by', 'request_id'])
    .where('status', 'in', ['running', 'undoing'])
    .where('run_at_ms', '<=', clock.elapsed())
    .execute()
  for (const { kind, worked_by, request_id, ...merge } of half) {
    const of = kinds.get(kind)
    if (!of) continue
    const who = { actor: actorOf(worked_by), request_id }
    await finish({ db, clock }, of, merge as Merge, who, stopping).catch((error) => {
      // It was taken back. Nobody waits for the reason.
      if (!(error instanceof ApiError)) failures.push(error)
    })
  }
  if (failures.length) throw failures[0]
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
