import { sql } from 'kysely'
import type { Db } from './db.ts'
import { recount } from './lists/counts.ts'
import type { Tables } from './tables.ts'

/** The tables whose records go to the trash and come back. */
export type Deletable = {
  [Table in keyof Tables]: Tables[Table] extends { deleted_at: unknown } ? Table : never
}[keyof Tables]

/**
 * What stands in `deleted_at` while a record goes for good, which takes several transactions: nothing brings it back, and
 * no list of the trash shows it. They come before every time, as texts.
 */
export const going = { removing: '0', erasing: '1' } as const

/**
 * Moves a live record to the trash (`deleted_at` set) or a deleted one back (null), and the totals with it: those of its
 * table and of the `counted` fields. False when there was nothing to move. Nothing that a read shows changes by it, so
 * neither does updated_at: what comes back is what went.
 */
export async function moveRecord(
  tx: Db,
  table: Deletable,
  counted: readonly string[],
  workspace_id: number,
  id: number,
  deleted_at: string | null,
): Promise<boolean> {
  // The guard decides, not what was read before: a second move would take the record from the totals twice.
  const guard = deleted_at === null ? sql`> ${going.erasing}` : sql`IS NULL`
  const returned = sql.join(['id', ...counted].map((column) => sql.ref(column)))
  const { rows } = await sql<object>`
    UPDATE ${sql.table(table)} SET deleted_at = ${deleted_at}
    WHERE workspace_id = ${workspace_id} AND id = ${id} AND deleted_at ${guard}
    RETURNING ${returned}`.execute(tx)
  const [moved] = rows
  if (!moved) return false
  const [before, after] = deleted_at === null ? [null, moved] : [moved, null]
  await recount(tx, workspace_id, table, counted, before, after)
  return true
}

/** When a record was moved to the trash; null when it is not there: live, unknown, or already going for good. */
export async function deletedAt(
  tx: Db,
  table: Deletable,
  workspace_id: number,
  id: number,
): Promise<string | null> {
  const { rows } = await sql<{ deleted_at: string | null }>`
    SELECT deleted_at FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id = ${id} AND deleted_at > ${going.erasing}`.execute(tx)
  return rows[0]?.deleted_at ?? null
}
