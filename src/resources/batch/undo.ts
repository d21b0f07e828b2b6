import type { Tx } from '../../db/db.ts'
import type { ApiError } from '../../errors.ts'
import type { Context } from '../../events/context.ts'
import type { Room } from '../room.ts'
import { runBatch } from './batch.ts'
import { type Item, type Outcome, type Writes, writesOf } from './items.ts'

// The one way back for reverts, the undo of an import and the undo of a merge. Each judges under its locks which records
// somebody has changed since. This puts the others back by the operations of any other change: with their checks, events
// and audit entries.

const allWritesOf = (room: Room) => writesOf({ ...room, ...room.archived }) as Writes

/** The fields that a change of a record of the room may set. */
export function writtenFields(room: Room): string[] {
  const { properties } = allWritesOf(room).update as { properties?: Record<string, { readOnly?: boolean }> }
  return Object.entries(properties ?? {}).flatMap(([name, { readOnly }]) => (readOnly ? [] : [name]))
}

/** Why a record stays as it is: the code of its field, or of the error. */
export const reasonOf = ({ fields, code }: ApiError): string => fields?.[0]?.code ?? code

/**
 * Puts records of a room back, each by its items in their order. Returns the outcomes, and why records stay, by their ids.
 * Unless they run one by one, pass the same list when the transaction runs again.
 */
export async function putBack(
  tx: Tx,
  context: Context,
  room: Room,
  items: readonly Item[],
  one_by_one = room.archived !== undefined,
): Promise<{ outcomes: Outcome[]; left: Map<number, string> }> {
  const outcomes = items.length
    ? await runBatch(tx, context, allWritesOf(room), items, { atomic: false, one_by_one })
    : []
  const left = new Map<number, string>()
  // The first error of a record is the cause of the next ones.
  for (const { id, error } of outcomes)
    if (error && id !== null && !left.has(id)) left.set(id, reasonOf(error))
  return { outcomes, left }
}
