import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { afterEarlierWrites, rowLock } from '../../db/locks.ts'
import { openBulk } from '../../db/statements/bulk.ts'
import { namedActors } from '../../events/actors.ts'
import type { Context } from '../../events/context.ts'
import { emitTo } from '../../events/emit.ts'
import type { Room } from '../../resources/room.ts'
import { cancelSomeOfBackfill } from '../../webhooks/registration/removal.ts'
import type { Work, WorkSteps } from '../../work/run.ts'
import { type BackfillKind, backfillKinds, type Position } from './state.ts'

/** How many records a step sends. */
const batch = 100
// A step looks at the records of this many ids: few of them may have changed `since`.
const max_ids = 5000
// A backfill pauses while it has this many due deliveries, so that a new event does not wait for many.
const max_waiting = 200

/** Sends the present records to a webhook. Cancels the deliveries that wait of a backfill that was stopped, or had ended. */
export function backfillWork(rooms: readonly Room[]): WorkSteps<Position> {
  const kinds = backfillKinds(rooms)
  // A write that began before the registration of the webhook has no delivery for it, so the backfill reads what it stores.
  const canBegin = afterEarlierWrites()
  return {
    kind: 'backfill',
    source: 'backfill',
    async step(tx, { context, ...backfill }) {
      const { workspace_id, subject, position } = backfill
      if (backfill.state !== 'running') {
        const removal = { workspace_id, webhook_id: subject, removed_at: position.finished_at ?? context.now }
        return (await cancelSomeOfBackfill(tx, removal, context.elapsed())) ? {} : { ends: true }
      }
      const webhook = await webhookOf(tx, workspace_id, subject)
      if (webhook.status === 'paused') return 'later'
      if (await isQueueLong(tx, backfill, context.elapsed())) return 'busy'
      if (position.kind === null && !(await canBegin(tx, backfill))) return 'busy'
      const at = await placeOf(tx, workspace_id, position)
      const kind = at.kind === null ? undefined : kinds.get(at.kind)
      if (!kind)
        return { state: 'succeeded', position: { ...position, finished_at: context.now }, ends: true }
      context.actor = await named(tx, context)
      return { position: await sendRecords(tx, context, kind, webhook, { ...position, ...at }) }
    },
  }
}

const webhookOf = (tx: Tx, workspace_id: number, id: string) =>
  tx
    .selectFrom('webhooks')
    .select(['id as webhook_id', 'conditions', 'format', 'ordered', 'status'])
    .where((eb) => eb.and({ workspace_id, id }))
    .executeTakeFirstOrThrow()

/** The kind that a backfill reads now, and the ids that are left of it; null after the last kind. */
async function placeOf(
  tx: Tx,
  workspace_id: number,
  { kinds, kind, last_id, up_to }: Position,
): Promise<Pick<Position, 'kind' | 'last_id' | 'up_to'>> {
  if (kind !== null && last_id < up_to) return { kind, last_id, up_to }
  const next = kinds[kind === null ? 0 : kinds.indexOf(kind) + 1]
  if (next === undefined) return { kind: null, last_id: 0, up_to: 0 }
  // A record that is made after this has its own event.
  const { rows } = await sql<{ last: number | null }>`
    SELECT max(id) AS last FROM ${sql.table(next)} WHERE workspace_id = ${workspace_id}`.execute(tx)
  return { kind: next, last_id: 0, up_to: rows[0]?.last ?? 0 }
}

async function sendRecords(
  tx: Tx,
  context: Context,
  kind: BackfillKind,
  webhook: Awaited<ReturnType<typeof webhookOf>>,
  position: Position,
): Promise<Position> {
  const { workspace_id } = context
  const { last_id, up_to, sent } = position
  const end = Math.min(up_to, last_id + max_ids)
  const ids = await lockedIds(tx, kind, { workspace_id, ...position }, end)
  // Read after the locks, so each state is that of its place in the sequence.
  const records = await kind.detailsByIds(tx, workspace_id, ids)
  const bulk = openBulk(tx)
  const meant = records.filter((record, index) =>
    emitTo(bulk.member(index), context, kind.event, record, webhook),
  )
  await bulk.flush()
  const reached = ids.length === batch ? (ids.at(-1) ?? end) : end
  return { ...position, last_id: reached, sent: sent + meant.length }
}

// A concurrent change of these records waits for the commit. So its event has a larger sequence than the state sent
// here.
async function lockedIds(
  tx: Tx,
  { resource }: BackfillKind,
  { workspace_id, last_id, since }: Position & { workspace_id: number },
  end: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM ${sql.table(resource.table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND id > ${last_id} AND id <= ${end}
    ${since === null ? sql`` : sql`AND updated_at >= ${since}`}
    ORDER BY id LIMIT ${batch} ${rowLock(tx, 'FOR SHARE')}`.execute(tx)
  return rows.map(({ id }) => id)
}

/** The author, with their name. */
async function named(tx: Tx, { workspace_id, actor }: Context): Promise<Context['actor']> {
  const [found] = await namedActors(tx, workspace_id, [actor])
  return { ...actor, ...(found?.name && { name: found.name }) }
}

type Backfill = Pick<Work, 'workspace_id' | 'subject'>

async function isQueueLong(
  db: Db,
  { workspace_id, subject }: Backfill,
  elapsed_ms: number,
): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (
      SELECT 1 FROM webhook_queue WHERE workspace_id = ${workspace_id} AND webhook_id = ${subject}
        AND kind = 'backfill' AND run_at_ms <= ${elapsed_ms} LIMIT ${max_waiting}
    ) AS waiting`.execute(db)
  return (rows[0]?.n ?? 0) >= max_waiting
}
