import { sql } from 'kysely'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { batch, inBatches } from '../../db/batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import { max_kept } from './queries.ts'

const kept_days = 90
const read_kept_days = 30

/**
 * Removes notifications after 90 days, and read ones after 30 days. Removes those of people who have left, and all but
 * the newest 500 of a member.
 */
export async function removeOldNotifications(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const ago = (days: number) => isoTime(clock.now() - days * day_ms)
  for (const { id } of await db.selectFrom('workspaces').select('id').orderBy('id').execute()) {
    const old = sql`(changed_at < ${ago(kept_days)} OR read_at < ${ago(read_kept_days)} OR NOT EXISTS (
      SELECT 1 FROM memberships AS m WHERE m.workspace_id = n.workspace_id AND m.user_id = n.user_id))`
    await inBatches(db, stopping, (tx) => remove(tx, id, old))
    for (const { user_id, occurred_at } of await beyondLimit(db, id)) {
      const excess = sql`user_id = ${user_id} AND held_by IS NULL AND occurred_at <= ${occurred_at}`
      await inBatches(db, stopping, (tx) => remove(tx, id, excess))
    }
  }
}

async function remove(tx: Tx, workspace_id: number, where: ReturnType<typeof sql>): Promise<number> {
  const { numAffectedRows } =
    await sql`DELETE FROM notifications WHERE workspace_id = ${workspace_id} AND id IN (
    SELECT id FROM notifications AS n WHERE workspace_id = ${workspace_id} AND ${where} LIMIT ${batch})`.execute(
      tx,
    )
  return Number(numAffectedRows)
}

/** The members who have more than they keep, with the time of the first one to remove. */
async function beyondLimit(
  db: Db,
  workspace_id: number,
): Promise<{ user_id: string; occurred_at: string }[]> {
  const { rows } = await sql<{ user_id: string; occurred_at: string }>`
    SELECT c.user_id, (
      SELECT n.occurred_at FROM notifications AS n
      WHERE n.workspace_id = ${workspace_id} AND n.user_id = c.user_id AND n.held_by IS NULL
      ORDER BY n.occurred_at DESC, n.id DESC LIMIT 1 OFFSET ${max_kept}) AS occurred_at
    FROM (
      SELECT user_id FROM notifications WHERE workspace_id = ${workspace_id} AND held_by IS NULL
      GROUP BY user_id HAVING count(*) > ${max_kept}) AS c`.execute(db)
  return rows
}
