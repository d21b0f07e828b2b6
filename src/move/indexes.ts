import { sql } from 'kysely'
import type { Tx } from '../db/db.ts'

/**
 * Drops the indexes of a table that no constraint needs, and returns a function that builds them again. On PostgreSQL this is
 * several times faster than updating them for each row, above all the search index. A rollback restores them. On SQLite it
 * is a no-op: triggers fill the search, and its indexes cost little.
 */
export async function dropIndexes(tx: Tx, table: string): Promise<() => Promise<void>> {
  if (tx.engine === 'sqlite') return async () => {}
  const { rows } = await sql<{ name: string; definition: string }>`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid = to_regclass(${table}) AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
    ORDER BY 1`.execute(tx)
  for (const { name } of rows) await sql`DROP INDEX ${sql.raw(name)}`.execute(tx)
  return async () => {
    for (const { definition } of rows) await sql.raw(definition).execute(tx)
  }
}
