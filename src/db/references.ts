import { type Kysely, sql } from 'kysely'
import type { Db } from './db.ts'
import type { Tables } from './tables.ts'

type Referable = 'companies' | 'contacts' | 'deals'

/**
 * Whether an id names a live record of the workspace. On PostgreSQL the row stays locked against deletion until the
 * transaction ends; SQLite has one writer anyway.
 */
export async function isLive(tx: Db, table: Referable, workspace_id: number, id: number): Promise<boolean> {
  const lock = engineOf(tx) === 'postgres' ? sql`FOR SHARE` : sql``
  const { rows } =
    await sql`SELECT 1 FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id} AND id = ${id} AND deleted_at IS NULL ${lock}`.execute(
      tx,
    )
  return rows.length > 0
}

/** Field problems of a body's references, for {company_id: 'companies'} and the like; values that are no ids are left to the schema. */
export async function referenceProblems(
  tx: Db,
  workspace_id: number,
  body: object,
  references: Record<string, Referable>,
) {
  const problems: { field: string; code: string; message: string }[] = []
  for (const [field, table] of Object.entries(references)) {
    const id = (body as Record<string, unknown>)[field]
    if (!Number.isSafeInteger(id) || (id as number) < 1) continue
    if (await isLive(tx, table, workspace_id, id as number)) continue
    problems.push({ field, code: 'not_found', message: `${field} ${id} does not exist.` })
  }
  return problems
}

/** The engine below a handle, for the few statements that differ. */
export function engineOf(db: Db): 'sqlite' | 'postgres' {
  const { adapter } = (db as Kysely<Tables>).getExecutor()
  return adapter.supportsTransactionalDdl && adapter.constructor.name.startsWith('Postgres')
    ? 'postgres'
    : 'sqlite'
}
