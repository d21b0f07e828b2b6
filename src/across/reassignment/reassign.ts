import { sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { type Db, type Tx, transaction } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { rowLock } from '../../db/locks.ts'
import { ApiError } from '../../errors.ts'
import { actorOf, storedActor } from '../../events/actors.ts'
import { recordChange } from '../../events/audit.ts'
import { type Context, contextOf } from '../../events/context.ts'
import { prepareEmit } from '../../events/emit.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Room } from '../../resources/room.ts'

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
 * Gives the live records of a member to another one, or to nobody. The first ones change now. The table reassignments keeps
 * the rest for later transactions, which continueReassignments runs. `count` is the number of all of them.
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
  if ((await changeSome(tx, context, places, handover)) === batch) await keepRest(tx, context, handover)
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

async function keepRest(tx: Tx, context: Context, { from_id, to_id }: Handover): Promise<void> {
  const { workspace_id, actor, request_id } = context
  await tx
    .insertInto('reassignments')
    .values({ workspace_id, from_id, to_id, actor: storedActor(actor), request_id })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'from_id'])
        .doUpdateSet({ to_id, actor: storedActor(actor), request_id }),
    )
    .execute()
  tx.announce('backlog')
}

/** Changes the records that reassignments have left, a batch in each transaction. May be stopped between two. */
export async function continueReassignments(
  db: Db,
  clock: Clock,
  rooms: readonly Room[],
  stopping: AbortSignal,
): Promise<void> {
  const places = placesOf(rooms)
  while (!stopping.aborted && (await transaction(db, (tx) => changeNext(tx, clock, places))));
}

/** False when nothing is left, or another process does the work. */
async function changeNext(tx: Tx, clock: Clock, places: readonly Place[]): Promise<boolean> {
  const query = tx.selectFrom('reassignments').selectAll().orderBy('workspace_id').orderBy('from_id').limit(1)
  const next = await query.modifyEnd(rowLock(tx, 'FOR UPDATE SKIP LOCKED')).executeTakeFirst()
  if (!next) return false
  const { workspace_id, from_id, request_id, actor } = next
  const context = contextOf(clock, { workspace_id, actor: actorOf(actor), request_id })
  if ((await changedOrRefused(tx, context, places, next)) === batch) return true
  await tx
    .deleteFrom('reassignments')
    .where((eb) => eb.and({ workspace_id, from_id }))
    .execute()
  return true
}

/** The number of changed records; 0 if the new owner has left meanwhile: then the rest stays as it is. */
async function changedOrRefused(
  tx: Tx,
  context: Context,
  places: readonly Place[],
  handover: Handover,
): Promise<number> {
  try {
    return await changeSome(tx, context, places, handover)
  } catch (error) {
    if (error instanceof ApiError && error.statusCode === 422) return 0
    throw error
  }
}
