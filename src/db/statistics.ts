import { sql } from 'kysely'
import type { Db } from './db.ts'
import { prepare } from './statements/prepare.ts'
import { engineOf, type Tx } from './tx.ts'

// Below this size, any plan is quick enough.
const min_rows = 500
const growth = 4
// A batch waits for these statistics. The job collects those of larger tables.
const new_bytes = [64 * 1024, 16 * 1024 * 1024]

// Statistics of PostgreSQL's own counters come up to a second late, so this looks at the size.
const analyze_new = prepare(
  () =>
    sql`DO ${sql.lit(`DECLARE name text; BEGIN
      FOR name IN SELECT relname FROM pg_class
        WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
          AND relkind = 'r' AND reltuples < 0 AND pg_relation_size(oid) BETWEEN ${new_bytes[0]} AND ${new_bytes[1]}
      LOOP EXECUTE format('ANALYZE (SKIP_LOCKED) %I', name); END LOOP; END`)}`,
)

/**
 * Collects the first statistics of tables that have some hundred rows, in a transaction that looks many records up. Without any,
 * PostgreSQL takes all indexes for equal, and may read all rows for each record. A no-op on SQLite.
 */
export async function analyzeNew(tx: Tx): Promise<void> {
  if (tx.engine === 'postgres') await analyze_new(tx, {})
}

/**
 * Collects statistics of the tables that have grown to a multiple of their size since the last ones. Autovacuum does the
 * same, but up to a minute later. Until then, plans that were made for an empty table read all rows of a workspace instead of one.
 * New statistics end these plans on all connections. A no-op on SQLite, which has no statistics here.
 */
export async function analyzeGrown(db: Db, stopping: AbortSignal): Promise<void> {
  if (engineOf(db) === 'sqlite') return
  // pg_class.reltuples is the number of rows in the last statistics, and -1 without any.
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND relkind = 'r'
      AND pg_stat_get_live_tuples(oid) >= greatest(${min_rows}, reltuples * ${growth})`.execute(db)
  for (const { name } of rows) {
    if (stopping.aborted) return
    // Another process may be at it.
    await sql`ANALYZE (SKIP_LOCKED) ${sql.table(name)}`.execute(db)
  }
}
