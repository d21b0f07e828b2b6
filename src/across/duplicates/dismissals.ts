import { sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { match_keys } from '../../db/lists/match-keys.ts'
import { rowLock } from '../../db/locks.ts'
import type { FieldProblem } from '../../errors.ts'
import { recordChange } from '../../events/audit.ts'
import type { Context } from '../../events/context.ts'
import type { DuplicateReason, Resource } from '../../resources/resource.ts'
import { isTelling, type Member } from './members.ts'

// A dismissed pair keeps the values that made it alike. It is in no group of such a value any longer. If a record gets
// another value, and another one has that, they are a pair that nobody has dismissed.

export type Pair = { first_id: number; second_id: number }

const pairsOf = (ids: readonly number[]): Pair[] => {
  const sorted = [...new Set(ids)].sort((a, b) => a - b)
  return sorted.flatMap((first_id, at) => sorted.slice(at + 1).map((second_id) => ({ first_id, second_id })))
}

const idsOf = (ids: readonly number[]) => sql.join(ids)

/** The records among these ids with the values by which they may be alike, locked against their removal. */
async function membersOf(
  tx: Tx,
  { workspace_id }: Context,
  { table, duplicates: reasons }: Resource,
  ids: readonly number[],
): Promise<Member[]> {
  const keys = reasons.map((reason) => sql`${match_keys[reason].key} AS ${sql.ref(reason)}`)
  const { rows } = await sql<Member>`SELECT id, ${sql.join(keys)} FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND deleted_at IS NULL AND id IN (${idsOf(ids)})
    ORDER BY id ${rowLock(tx, 'FOR KEY SHARE')}`.execute(tx)
  return rows
}

/** Adds a problem for each id without a record. */
function missingOf(ids: readonly number[], members: readonly Member[], noun: string): FieldProblem[] {
  const known = new Set(members.map(({ id }) => id))
  return ids.flatMap((id, at) =>
    known.has(id)
      ? []
      : [
          {
            field: `ids[${at}]`,
            code: 'not_found',
            message: `ids[${at}] must be the id of an existing ${noun}.`,
          },
        ],
  )
}

/** Says of records that no two of them are the same. Returns the problems of the ids; with any, nothing is written. */
export async function dismiss(
  tx: Tx,
  context: Context,
  resource: Resource,
  ids: readonly number[],
): Promise<FieldProblem[]> {
  const { table: kind, noun, duplicates: reasons } = resource
  const members = await membersOf(tx, context, resource, ids)
  const missing = missingOf(ids, members, noun)
  if (missing.length) return missing
  const byId = new Map(members.map((member) => [member.id, member]))
  const keyOf = (id: number, reason: DuplicateReason) => byId.get(id)?.[reason] ?? ''
  const rows = pairsOf(ids).flatMap((pair) =>
    reasons.flatMap((reason) => {
      const value = keyOf(pair.first_id, reason)
      const alike = isTelling(reason, value) && value === keyOf(pair.second_id, reason)
      return alike ? [{ workspace_id: context.workspace_id, kind, reason, value, ...pair }] : []
    }),
  )
  const added = rows.length
    ? await tx
        .insertInto('dismissed_pairs')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .returning(['first_id', 'second_id'])
        .execute()
    : []
  audit(tx, context, kind, 'duplicates_dismissed', added)
  return []
}

/** Takes back what was said of these records. */
export async function undismiss(
  tx: Tx,
  context: Context,
  { table: kind }: Resource,
  ids: readonly number[],
): Promise<void> {
  const removed = await tx
    .deleteFrom('dismissed_pairs')
    .where((eb) => eb.and({ workspace_id: context.workspace_id, kind }))
    .where('first_id', 'in', ids)
    .where('second_id', 'in', ids)
    .returning(['first_id', 'second_id'])
    .execute()
  audit(tx, context, kind, 'duplicates_restored', removed)
}

/** An entry for each record of the pairs, with the other ones. */
function audit(tx: Tx, context: Context, kind: string, action: string, pairs: readonly Pair[]): void {
  const ids = new Set(pairs.flatMap(({ first_id, second_id }) => [first_id, second_id]))
  for (const record_id of [...ids].sort((a, b) => a - b)) {
    const others = pairs.flatMap(({ first_id, second_id }) =>
      first_id === record_id ? [second_id] : second_id === record_id ? [first_id] : [],
    )
    const after = { ids: [...new Set(others)].sort((a, b) => a - b) }
    recordChange(tx, context, { action, kind, record_id, after })
  }
}

/** The pairs that were dismissed for a value. */
export const dismissedFor = (
  db: Db,
  value: { workspace_id: number; kind: string; reason: string; value: string },
): Promise<Pair[]> =>
  db
    .selectFrom('dismissed_pairs')
    .select(['first_id', 'second_id'])
    .where((eb) => eb.and(value))
    .execute()

/** The ids that are not dismissed with all of the others. */
export function remaining(ids: readonly number[], pairs: readonly Pair[]): number[] {
  if (!pairs.length) return [...ids]
  const apart = new Set(pairs.map(({ first_id, second_id }) => `${first_id} ${second_id}`))
  const isApart = (a: number, b: number) => apart.has(`${Math.min(a, b)} ${Math.max(a, b)}`)
  return ids.filter((id) => ids.some((other) => other !== id && !isApart(id, other)))
}
