import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { engineOf } from '../db/statements/prepare.ts'

/**
 * Drops the indexes of a table that no constraint needs, and returns how to make them again as they were. On PostgreSQL
 * that is several times quicker than to keep them up row by row, the search index above all, and a rollback undoes it.
 * SQLite's search is kept by triggers, and its indexes are cheap to keep.
 */
export async function dropIndexes(tx: Db, table: string): Promise<() => Promise<void>> {
  if (engineOf(tx) === 'sqlite') return async () => {}
  const { rows } = await sql<{ name: string; definition: string }>`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid = to_regclass(${table}) AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
    ORDER BY 1`.execute(tx)
  for (const { name } of rows) await sql`DROP INDEX ${sql.raw(name)}`.execute(tx)
  return async () => {
    for (const { definition } of rows) await sql.raw(definition).execute(tx)
  }
}
