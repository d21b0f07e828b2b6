import { sql } from 'kysely'
import { recount } from './lists/counts.ts'
import { prepareById } from './statements/bulk.ts'
import { perKey } from './statements/prepare.ts'
import type { Tables } from './tables.ts'
import type { Db, Tx } from './tx.ts'

/** The tables whose records can be soft-deleted and restored. */
export type Deletable = {
  [Table in keyof Tables]: Tables[Table] extends { deleted_at: unknown } ? Table : never
}[keyof Tables]

/**
 * Values of `deleted_at` while a record is removed or erased, which takes several transactions. Such a record cannot be
 * restored, and the trash does not list it. As texts, these values sort before every time.
 */
export const pending_removal = { removing: '0', erasing: '1' } as const

type Move = { workspace_id: number; id: number; deleted_at: string | null }
// A key names the table and the columns that the UPDATE returns.
const moveOf = perKey((key: string) => {
  const [table = '', action, ...counted] = key.split(' ')
  // Check the state in the UPDATE, not in an earlier read: a second move would change the totals twice.
  const guard = action === 'restore' ? sql`> ${sql.lit(pending_removal.erasing)}` : sql`IS NULL`
  const returned = sql.join(['id', ...counted].map((column) => sql.ref(column)))
  return prepareById<Move, { id: number }>(
    (is, p) => sql<{ id: number }>`UPDATE ${sql.table(table)} SET deleted_at = ${p.deleted_at}
          WHERE workspace_id = ${p.workspace_id} AND ${is('id')} AND deleted_at ${guard}
          RETURNING ${returned}`,
    { writes: true },
  )
})

/**
 * Soft-deletes a live record (`deleted_at` set) or restores one (null). Updates the totals of its table and of the
 * `counted` fields. Returns false if no row changed. It does not change updated_at: a restored record reads as before.
 */
export async function moveRecord(
  tx: Tx,
  table: Deletable,
  counted: readonly string[],
  workspace_id: number,
  id: number,
  deleted_at: string | null,
): Promise<boolean> {
  const action = deleted_at === null ? 'restore' : 'delete'
  const move = moveOf([table, action, ...counted].join(' '))
  const moved = await move(tx, { workspace_id, id, deleted_at })
  if (!moved) return false
  const [before, after] = deleted_at === null ? [null, moved] : [moved, null]
  recount(tx, workspace_id, table, counted, before, after)
  return true
}

/** When a record was soft-deleted; null when it is live, unknown, or pending removal. */
export async function deletedAt(
  db: Db,
  table: Deletable,
  workspace_id: number,
  id: number,
): Promise<string | null> {
  const { rows } = await sql<{ deleted_at: string | null }>`
    SELECT deleted_at FROM ${sql.table(table)}
    WHERE workspace_id = ${workspace_id} AND id = ${id} AND deleted_at > ${pending_removal.erasing}`.execute(
    db,
  )
  return rows[0]?.deleted_at ?? null
}
