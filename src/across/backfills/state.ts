import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { countOf, countRows } from '../../db/lists/counts.ts'
import { addWork, dropWork, workOf } from '../../db/work.ts'
import type { Context } from '../../events/context.ts'
import type { EventDefinition } from '../../events/define.ts'
import type { Room } from '../../resources/room.ts'

// The work of a backfill. A webhook has at most one. Its row stays when it has ended.

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

/** The records that a backfill sends, and how far it has come. */
export type Position = {
  /** Tables, in the order of sending. */
  kinds: string[]
  since: string | null
  /** The kind that is sent now; null before the first. */
  kind: string | null
  /** The records up to this id are sent; those up to `up_to` will be. */
  last_id: number
  up_to: number
  total: number
  sent: number
  finished_at: string | null
}

export type Backfill = Awaited<ReturnType<typeof workOf<Position>>>[number]

/** The newest backfill of a webhook. */
export const findBackfill = async (db: Db, workspace_id: number, webhook_id: string) =>
  (await workOf<Position>(db, workspace_id, 'backfill', webhook_id))[0]

/** Begins a backfill in place of the last one of the webhook, which has ended. */
export async function insertBackfill(
  tx: Tx,
  context: Context,
  { webhook_id, kinds, since }: { webhook_id: string; kinds: string[]; since: string | null },
): Promise<Position> {
  const { workspace_id } = context
  const totals = await Promise.all(kinds.map((kind) => countOfKind(tx, workspace_id, kind, since)))
  const total = totals.reduce((sum, n) => sum + n, 0)
  const position = { kinds, since, kind: null, last_id: 0, up_to: 0, total, sent: 0, finished_at: null }
  await dropWork(tx, workspace_id, 'backfill', webhook_id)
  addWork(tx, context, { kind: 'backfill', subject: webhook_id, position })
  return position
}

async function countOfKind(tx: Tx, workspace_id: number, table: string, since: string | null) {
  if (since === null) return countOf(tx, workspace_id, table)
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND updated_at >= ${since}`.execute(tx)
  return rows[0]?.n ?? 0
}

/** How many deliveries of a webhook's backfill wait or are in flight. */
export const countLeft = (tx: Tx, { workspace_id, subject }: Backfill): Promise<number> =>
  countRows(
    tx
      .selectFrom('webhook_queue')
      .where('workspace_id', '=', workspace_id)
      .where('webhook_id', '=', subject)
      // In the statement's text, as the partial index has it.
      .where('kind', '=', sql.lit('backfill' as const)),
  )
