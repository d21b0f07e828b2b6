import { sql } from 'kysely'
import type { FieldCode } from '../errors.ts'
import type { Db } from './db.ts'
import { rowLock } from './locks.ts'
import type { Deletable } from './records.ts'
import { prepareById } from './statements/bulk.ts'
import { perKey } from './statements/prepare.ts'
import type { Tx } from './tx.ts'

const live = (table: Deletable, locked: boolean) =>
  prepareById(
    (is, p, db) => sql<{ id: number }>`SELECT id FROM ${sql.table(table)}
        WHERE workspace_id = ${p.workspace_id} AND ${is('id')} AND deleted_at IS NULL
        ${locked ? rowLock(db, 'ORDER BY id FOR KEY SHARE') : sql``}`,
  )
const queriesOf = perKey((table: Deletable) => ({ read: live(table, false), locked: live(table, true) }))

/**
 * Whether an id names a live record of the workspace. In a transaction on PostgreSQL the row stays locked against
 * deletion until its end, but not against other changes. SQLite has one writer anyway.
 */
export async function isLive(db: Db, table: Deletable, workspace_id: number, id: number): Promise<boolean> {
  const query = queriesOf(table)[db.isTransaction ? 'locked' : 'read']
  return (await query(db, { workspace_id, id })) !== undefined
}

/**
 * Field problems of a body's references, for a map such as {company_id: 'companies'}. The schema reports values that
 * are not ids.
 */
export async function referenceProblems(
  tx: Tx,
  workspace_id: number,
  body: object,
  references: Record<string, Deletable>,
) {
  const problems: { field: string; code: FieldCode; message: string }[] = []
  for (const [field, table] of Object.entries(references)) {
    const id = (body as Record<string, unknown>)[field]
    if (!Number.isSafeInteger(id) || (id as number) < 1) continue
    if (await isLive(tx, table, workspace_id, id as number)) continue
    problems.push({ field, code: 'not_found', message: `${field} ${id} does not exist.` })
  }
  return problems
}
