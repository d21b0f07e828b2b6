import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import type { BackfillsTable } from '../../db/event-tables.ts'
import { countOf, countRows } from '../../db/lists/counts.ts'
import { rowLock } from '../../db/locks.ts'
import { storedActor } from '../../events/actors.ts'
import type { Context } from '../../events/context.ts'
import type { EventDefinition } from '../../events/define.ts'
import type { Room } from '../../resources/room.ts'

// The row that keeps a backfill: what it sends, and how far it has come. A webhook has at most one.

/** A kind of records that a backfill sends, with the event that carries a record. */
export type BackfillKind = Pick<Room, 'resource' | 'detailsByIds'> & { event: EventDefinition }
export type BackfillKinds = ReadonlyMap<string, BackfillKind>

/** The kinds of records that have an event for a new record, by their table. */
export function backfillKinds(rooms: readonly Room[]): BackfillKinds {
  const kinds = new Map<string, BackfillKind>()
  for (const { resource, detailsByIds } of rooms) {
    const event = resource.events.find(({ name }) => name.endsWith('.created'))
    if (event) kinds.set(resource.table, { resource, detailsByIds, event })
  }
  return kinds
}

export type Backfill = Omit<BackfillsTable, 'kinds'> & { kinds: string[] }

const rowOf = ({ kinds, ...row }: BackfillsTable): Backfill => ({ ...row, kinds: JSON.parse(kinds) })

const ofWebhook = (db: Db, workspace_id: number, webhook_id: string) =>
  db
    .selectFrom('webhook_backfills')
    .selectAll()
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)

/** The newest backfill of a webhook, or null. */
export async function findBackfill(
  db: Db,
  workspace_id: number,
  webhook_id: string,
): Promise<Backfill | null> {
  const row = await ofWebhook(db, workspace_id, webhook_id).executeTakeFirst()
  return row ? rowOf(row) : null
}

/** The same, locked: a step of it waits. */
export async function lockBackfill(
  tx: Tx,
  workspace_id: number,
  webhook_id: string,
): Promise<Backfill | null> {
  const query = ofWebhook(tx, workspace_id, webhook_id)
  const row = await query.modifyEnd(rowLock(tx, 'FOR UPDATE')).executeTakeFirst()
  return row ? rowOf(row) : null
}

/** A running backfill, locked for a step; null when it has ended, or another process works on it. */
export async function claimBackfill(tx: Tx, { workspace_id, webhook_id }: Running): Promise<Backfill | null> {
  const query = ofWebhook(tx, workspace_id, webhook_id).where('status', '=', 'running')
  const row = await query.modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED')).executeTakeFirst()
  return row ? rowOf(row) : null
}

/** Begins a backfill in place of the last one of the webhook, which has ended. */
export async function insertBackfill(
  tx: Tx,
  { workspace_id, actor, request_id, now }: Context,
  asked: { webhook_id: string; kinds: readonly string[]; since: string | null },
): Promise<Backfill> {
  const { webhook_id, kinds, since } = asked
  const totals = await Promise.all(kinds.map((kind) => countOfKind(tx, workspace_id, kind, since)))
  const begun = {
    workspace_id,
    webhook_id,
    since,
    status: 'running' as const,
    kind: null,
    last_id: 0,
    up_to: 0,
    total: totals.reduce((sum, n) => sum + n, 0),
    sent: 0,
    actor: storedActor(actor),
    request_id,
    started_at: now,
    finished_at: null,
  }
  await tx
    .deleteFrom('webhook_backfills')
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .execute()
  await tx
    .insertInto('webhook_backfills')
    .values({ ...begun, kinds: JSON.stringify(kinds) })
    .execute()
  return { ...begun, kinds: [...kinds] }
}

async function countOfKind(tx: Tx, workspace_id: number, table: string, since: string | null) {
  if (since === null) return countOf(tx, workspace_id, table)
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND updated_at >= ${since}`.execute(tx)
  return rows[0]?.n ?? 0
}

/** How many deliveries of a webhook's backfill wait or are in flight. */
export const countLeft = (tx: Tx, { workspace_id, webhook_id }: Running): Promise<number> =>
  countRows(
    tx
      .selectFrom('webhook_queue')
      .where('workspace_id', '=', workspace_id)
      .where('webhook_id', '=', webhook_id)
      // In the statement's text, as the partial index has it.
      .where('kind', '=', sql.lit('backfill' as const)),
  )

/** Stores how far a backfill has come, or that it has ended. */
export async function updateBackfill(
  tx: Tx,
  { workspace_id, webhook_id }: Running,
  changes: Partial<Pick<Backfill, 'status' | 'kind' | 'last_id' | 'up_to' | 'sent' | 'finished_at'>>,
): Promise<void> {
  await tx
    .updateTable('webhook_backfills')
    .set(changes)
    .where('workspace_id', '=', workspace_id)
    .where('webhook_id', '=', webhook_id)
    .execute()
}

export type Running = { workspace_id: number; webhook_id: string }

// A process works on at most this many backfills in turn.
const max_running = 100

/** The running backfills of webhooks that are not paused. */
export const runningBackfills = (db: Db): Promise<Running[]> =>
  db
    .selectFrom('webhook_backfills as b')
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.workspace_id', '=', 'b.workspace_id').onRef('w.id', '=', 'b.webhook_id'),
    )
    .select(['b.workspace_id', 'b.webhook_id'])
    .where('b.status', '=', 'running')
    .where('w.status', '<>', 'paused')
    .orderBy('b.started_at')
    .limit(max_running)
    .execute()
