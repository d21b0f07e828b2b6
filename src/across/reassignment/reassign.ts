import { sql } from 'kysely'
import type { Tx } from '../../db/db.ts'
import { countOf } from '../../db/lists/counts.ts'
import { rowLock } from '../../db/locks.ts'
import { addWork, dropWork } from '../../db/work.ts'
import { ApiError } from '../../errors.ts'
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
type Place = {
  name: string
  resource: Resource
  field: string
  change: NonNullable<Room['operations']>['change']
}

/** The fields of all records that name a member, in the order of their names: another release keeps the order. */
export const placesOf = (rooms: readonly Room[]): Place[] =>
  rooms
    .flatMap(({ resource, operations }) =>
      operations
        ? resource.members.map((field) => {
            const name = `${resource.table}.${field}`
            return { name, resource, field, change: operations.change }
          })
        : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))

/** The number of live records that name a member. */
export async function countRecordsOf(
  tx: Tx,
  { workspace_id }: Context,
  places: readonly Place[],
  user_id: string,
): Promise<number> {
  let count = 0
  for (const { name } of places) count += await countOf(tx, workspace_id, `${name}=${user_id}`)
  return count
}

/**
 * Gives the live records of a member to another one, or to nobody. The first ones change now. The rest is work for later
 * transactions. A booking at whose time the new owner is busy stays, so that it holds up no other record. `count` is
 * the number of all records; returns it without those that stay now.
 */
export async function reassign(
  tx: Tx,
  context: Context,
  places: readonly Place[],
  handover: Handover,
  count: number,
): Promise<number> {
  const { from_id, to_id } = handover
  recordChange(tx, context, {
    action: 'reassigned',
    kind: 'members',
    record_id: from_id,
    after: { to: to_id, count },
  })
  // Before the records: a step locks both in this order, too.
  await dropWork(tx, context.workspace_id, 'reassignment', from_id)
  const { next, stay } = await changeSome(tx, context, places, handover)
  if (next) addWork(tx, context, { kind: 'reassignment', subject: from_id, position: next })
  return count - stay
}

/** The new owner, and the last record that was changed or left. */
type Position = Pick<Handover, 'to_id'> & { place?: string; after?: number }

/** Changes up to a batch of records. Returns where to continue, null at the end, and how many stay as they are. */
async function changeSome(
  tx: Tx,
  context: Context,
  places: readonly Place[],
  { from_id, to_id, place = '', after = 0 }: Handover & Position,
): Promise<{ next: Position | null; stay: number }> {
  prepareEmit(
    tx,
    context.workspace_id,
    places.flatMap(({ resource }) => resource.events),
  )
  let left = batch
  let stay = 0
  // Somebody may delete one of them, or give it to another member. This waits, and then leaves it out.
  const lock = rowLock(tx, 'FOR NO KEY UPDATE')
  for (const { name, resource, field, change } of places) {
    if (name < place) continue
    const { rows } = await sql<{ id: number }>`SELECT id FROM ${sql.table(resource.table)}
      WHERE workspace_id = ${context.workspace_id} AND ${sql.ref(field)} = ${from_id} AND deleted_at IS NULL
        AND id > ${name === place ? after : 0} ORDER BY id LIMIT ${left} ${lock}`.execute(tx)
    for (const { id } of rows)
      await change(tx, context, id, { [field]: to_id }, { problems: [], expect: () => {} }).catch((error) => {
        // Operations refuse a change before they write.
        if (!(error instanceof ApiError && error.reason === 'host_busy')) throw error
        stay++
      })
    left -= rows.length
    if (!left) return { next: { to_id, place: name, after: rows.at(-1)?.id ?? 0 }, stay }
  }
  return { next: null, stay }
}

/** Changes the records that a reassignment has left. If the new owner has left meanwhile, they stay as they are. */
export function reassignmentWork(rooms: readonly Room[]): WorkSteps<Position> {
  const places = placesOf(rooms)
  return {
    kind: 'reassignment',
    async step(tx, { subject: from_id, position, context }) {
      const { next } = await changeSome(tx, context, places, { from_id, ...position })
      return next ? { position: next } : 'done'
    },
    async refused(_tx, _work, error) {
      // The new owner has left.
      if (error.statusCode === 422) return 'done'
      throw error
    },
  }
}
