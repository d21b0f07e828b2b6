import { sql } from 'kysely'
import { type Clock, day_ms, isoTime } from '../../clock.ts'
import { batch, inBatches } from '../../db/batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import { createPace } from '../../db/pace.ts'
import { max_kept } from './queries.ts'

const kept_days = 90
const read_kept_days = 30

/**
 * Removes notifications after 90 days, and read ones after 30 days. Removes those of people who have left, and all but
 * the newest 500 of a member. Each statement reads what it removes, by an index: members may have a million of them.
 */
export async function removeOldNotifications(db: Db, clock: Clock, stopping?: AbortSignal): Promise<void> {
  const ago = (days: number) => isoTime(clock.now() - days * day_ms)
  // A read one has changed when it was read.
  const old = [
    sql`held_by IS NULL AND read_at IS NOT NULL AND changed_at < ${ago(read_kept_days)}`,
    sql`held_by IS NULL AND changed_at < ${ago(kept_days)}`,
    sql`held_by IS NOT NULL AND changed_at < ${ago(kept_days)}`,
  ]
  const pace = createPace()
  for (const { id } of await db.selectFrom('workspaces').select('id').orderBy('id').execute()) {
    for (const one of old) await inBatches(db, stopping, (tx) => remove(tx, id, one))
    for (let user_id = await nextOwner(db, id, ''); user_id !== null; ) {
      const from = await firstExcess(db, id, user_id)
      if (from) {
        const excess = sql`user_id = ${user_id} AND held_by IS NULL
          AND (occurred_at, id) <= (${from.occurred_at}, ${from.id})`
        await inBatches(db, stopping, (tx) => remove(tx, id, excess))
      }
      await pace()
      user_id = await nextOwner(db, id, user_id)
    }
  }
}

async function remove(tx: Tx, workspace_id: number, where: ReturnType<typeof sql>): Promise<number> {
  const { numAffectedRows } =
    await sql`DELETE FROM notifications WHERE workspace_id = ${workspace_id} AND id IN (
    SELECT id FROM notifications WHERE workspace_id = ${workspace_id} AND ${where} LIMIT ${batch})`.execute(
      tx,
    )
  return Number(numAffectedRows)
}

/** The next person with notifications in a workspace, in the order of ids. */
const nextOwner = async (db: Db, workspace_id: number, after: string): Promise<string | null> =>
  (
    await db
      .selectFrom('notifications')
      .select('user_id')
      .where((eb) => eb.and({ workspace_id }))
      .where('held_by', 'is', null)
      .where('user_id', '>', after)
      .orderBy('user_id')
      .limit(1)
      .executeTakeFirst()
  )?.user_id ?? null

/** The newest notification to remove: the first beyond the limit, or of somebody who has left. A batch gives many one time. */
async function firstExcess(db: Db, workspace_id: number, user_id: string) {
  const member = await db
    .selectFrom('memberships')
    .select('user_id')
    .where((eb) => eb.and({ workspace_id, user_id }))
    .executeTakeFirst()
  return db
    .selectFrom('notifications')
    .select(['occurred_at', 'id'])
    .where((eb) => eb.and({ workspace_id, user_id }))
    .where('held_by', 'is', null)
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .offset(member ? max_kept : 0)
    .executeTakeFirst()
}
