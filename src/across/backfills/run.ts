import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { type Ended, earlierWrites, rowLock } from '../../db/locks.ts'
import { openBulk } from '../../db/statements/bulk.ts'
import { actorOf, namedActors } from '../../events/actors.ts'
import { type Context, contextOf } from '../../events/context.ts'
import { emitTo } from '../../events/emit.ts'
import type { Room } from '../../resources/room.ts'
import {
  type Backfill,
  type BackfillKind,
  type BackfillKinds,
  backfillKinds,
  claimBackfill,
  type Running,
  runningBackfills,
  updateBackfill,
} from './state.ts'

/** How many records a step sends. */
const batch = 100
// A step looks at the records of this many ids: few of them may have changed `since`.
const max_ids = 5000
// A backfill pauses while it has this many due deliveries, so that a new event does not wait for many.
const max_waiting = 200
const pause_ms = 50

type Deps = { db: Db; clock: Clock; rooms: readonly Room[] }

/** Sends the records of all running backfills, until they have ended, their webhooks are paused, or the service stops. */
export async function continueBackfills({ db, clock, rooms }: Deps, stopping: AbortSignal): Promise<void> {
  const kinds = backfillKinds(rooms)
  const canBegin = afterEarlierWrites()
  for (;;) {
    const running = await runningBackfills(db)
    if (!running.length || stopping.aborted) return
    let moved = false
    for (const one of running) {
      if (stopping.aborted) return
      moved = (await step(db, clock, { kinds, canBegin }, one)) || moved
    }
    await pause(moved ? 0 : pause_ms, undefined, { signal: stopping }).catch(() => {})
  }
}

/**
 * Says whether the writes have ended that were running at the first question about a backfill. A write that began before the
 * registration of the webhook has no delivery for it, so the backfill has to read what it stores.
 */
function afterEarlierWrites() {
  const asked = new Map<string, Ended>()
  return (tx: Tx, { workspace_id, webhook_id, started_at }: Backfill): Promise<boolean> => {
    const name = `${webhook_id} ${started_at}`
    const haveEnded = asked.get(name) ?? earlierWrites(workspace_id)
    asked.set(name, haveEnded)
    return haveEnded(tx)
  }
}

type Means = { kinds: BackfillKinds; canBegin: ReturnType<typeof afterEarlierWrites> }

/** Sends the next records of a backfill. False when it has to wait. */
async function step(db: Db, clock: Clock, { kinds, canBegin }: Means, running: Running): Promise<boolean> {
  if (await isQueueLong(db, running, clock.elapsed())) return false
  return transaction(db, async (tx) => {
    const backfill = await claimBackfill(tx, running)
    if (!backfill) return false
    if (backfill.kind === null && !(await canBegin(tx, backfill))) return false
    const context = await contextOfBackfill(tx, clock, backfill)
    const at = await placeOf(tx, backfill)
    const kind = at.kind === null ? undefined : kinds.get(at.kind)
    if (!kind) await updateBackfill(tx, running, { status: 'succeeded', finished_at: context.now })
    else await sendRecords(tx, context, kind, { ...backfill, ...at })
    return true
  })
}

/** The kind that a backfill reads now, and the ids that are left of it; null after the last kind. */
async function placeOf(
  tx: Tx,
  { workspace_id, kinds, kind, last_id, up_to }: Backfill,
): Promise<Pick<Backfill, 'kind' | 'last_id' | 'up_to'>> {
  if (kind !== null && last_id < up_to) return { kind, last_id, up_to }
  const next = kinds[kind === null ? 0 : kinds.indexOf(kind) + 1]
  if (next === undefined) return { kind: null, last_id: 0, up_to: 0 }
  // A record that is made after this has its own event.
  const { rows } = await sql<{ last: number | null }>`
    SELECT max(id) AS last FROM ${sql.table(next)} WHERE workspace_id = ${workspace_id}`.execute(tx)
  return { kind: next, last_id: 0, up_to: rows[0]?.last ?? 0 }
}

async function sendRecords(tx: Tx, context: Context, kind: BackfillKind, backfill: Backfill): Promise<void> {
  const { workspace_id, webhook_id, last_id, up_to, sent } = backfill
  const end = Math.min(up_to, last_id + max_ids)
  const ids = await lockedIds(tx, kind, backfill, end)
  // Read after the locks, so each state is that of its place in the sequence.
  const records = ids.length ? await kind.detailsByIds(tx, workspace_id, ids) : []
  const webhook = await tx
    .selectFrom('webhooks')
    .select(['id as webhook_id', 'conditions', 'format', 'ordered'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', webhook_id)
    .executeTakeFirstOrThrow()
  const bulk = openBulk(tx)
  const meant = records.filter((record, index) =>
    emitTo(bulk.member(index), context, kind.event, record, webhook),
  )
  await bulk.flush()
  const reached = ids.length === batch ? (ids.at(-1) ?? end) : end
  const progress = { kind: backfill.kind, up_to, last_id: reached, sent: sent + meant.length }
  await updateBackfill(tx, backfill, progress)
}

// A concurrent change of these records waits for the commit. So its event has a larger sequence than the state sent
// here.
async function lockedIds(
  tx: Tx,
  { resource }: BackfillKind,
  { workspace_id, last_id, since }: Backfill,
  end: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM ${sql.table(resource.table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND id > ${last_id} AND id <= ${end}
    ${since === null ? sql`` : sql`AND updated_at >= ${since}`}
    ORDER BY id LIMIT ${batch} ${rowLock(tx, 'FOR SHARE')}`.execute(tx)
  return rows.map(({ id }) => id)
}

async function contextOfBackfill(
  tx: Tx,
  clock: Clock,
  { workspace_id, actor, request_id }: Backfill,
): Promise<Context> {
  const author = actorOf(actor)
  const [named] = await namedActors(tx, workspace_id, [author])
  const who = { ...author, ...(named?.name && { name: named.name }) }
  return contextOf(clock, { workspace_id, actor: who, request_id, traceparent: null, source: 'backfill' })
}

async function isQueueLong(
  db: Db,
  { workspace_id, webhook_id }: Running,
  elapsed_ms: number,
): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (
      SELECT 1 FROM webhook_queue WHERE workspace_id = ${workspace_id} AND webhook_id = ${webhook_id}
        AND kind = 'backfill' AND run_at_ms <= ${elapsed_ms} LIMIT ${max_waiting}
    ) AS waiting`.execute(db)
  return (rows[0]?.n ?? 0) >= max_waiting
}
