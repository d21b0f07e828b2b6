import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { rowLock } from '../../db/locks.ts'
import { addWork, dropWork } from '../../db/work.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import { prepareEmit } from '../../events/emit.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Room } from '../../resources/room.ts'
import type { WorkSteps } from '../../work/run.ts'

// How many records one transaction changes. Each has its event and its audit entry.
const batch = 50

type Handover = { from_id: string; to_id: string | null }
/** A field that names a member, such as the owner, and what changes it. */
type Place = { resource: Resource; field: string; change: NonNullable<Room['operations']>['change'] }

/** The fields of all records that name a member. */
export const placesOf = (rooms: readonly Room[]): Place[] =>
  rooms.flatMap(({ resource, operations }) =>
    operations ? resource.members.map((field) => ({ resource, field, change: operations.change })) : [],
  )

/** The number of live records that name a member. */
export async function countRecordsOf(
  tx: Tx,
  { workspace_id }: Context,
  places: readonly Place[],
  user_id: string,
): Promise<number> {
  let count = 0
  for (const { resource, field } of places)
    count += await countOf(tx, workspace_id, `${resource.table}.${field}=${user_id}`)
  return count
}

/**
 * Gives the live records of a member to another one, or to nobody. The first ones change now. The
 * rest is work for later transactions. `count` is the number of all of them.
 */
export async function reassign(
  tx: Tx,
  context: Context,
  places: readonly Place[],
  handover: Handover,
  count: number,
): Promise<void> {
  const { from_id, to_id } = handover
  recordChange(tx, context, {
    action: 'reassigned',
    kind: 'members',
    record_id: from_id,
    after: { to: to_id, count },
  })
  if (count > batch) {
    // Before the records: a step locks both in this order, too.
    await dropWork(tx, context.workspace_id, 'reassignment', from_id)
    addWork(tx, context, { kind: 'reassignment', subject: from_id, position: { to_id } })
  }
  await changeSome(tx, context, places, handover)
}

/** Changes up to a batch of records; returns their number. */
async function changeSome(
  tx: Tx,
  context: Context,
  places: readonly Place[],
  { from_id, to_id }: Handover,
): Promise<number> {
  prepareEmit(
    tx,
    context.workspace_id,
    places.flatMap(({ resource }) => resource.events),
  )
  let left = batch
  // Somebody may delete one of them, or give it to another member. This waits, and then leaves it out.
  const lock = rowLock(tx, 'FOR NO KEY UPDATE')
  for (const { resource, field, change } of places) {
    const { rows } = await sql<{ id: number }>`SELECT id FROM ${sql.table(resource.table)}
      WHERE workspace_id = ${context.workspace_id} AND ${sql.ref(field)} = ${from_id} AND deleted_at IS NULL
      ORDER BY id LIMIT ${left} ${lock}`.execute(tx)
    for (const { id } of rows)
      await change(tx, context, id, { [field]: to_id }, { problems: [], expect: () => {} })
    left -= rows.length
    if (!left) break
  }
  return batch - left
}

/** Changes the records that a reassignment has left. If the new owner has left meanwhile, they stay as they are. */
export function reassignmentWork(rooms: readonly Room[]): WorkSteps<Pick<Handover, 'to_id'>> {
  const places = placesOf(rooms)
  return {
    kind: 'reassignment',
    async step(tx, { subject: from_id, position, context }) {
      return (await changeSome(tx, context, places, { from_id, ...position })) === batch ? {} : 'done'
    },
    async refused(_tx, _work, error) {
      if (error.statusCode === 422) return 'done'
      throw error
    },
  }
}
