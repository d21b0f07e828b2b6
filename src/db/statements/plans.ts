import { sql } from 'kysely'
import type { Tx } from '../tx.ts'
import { prepare } from './prepare.ts'

// These settings last until the end of the transaction. Cached plans are safe: these statements run only under them.
const without = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_hashjoin', 'enable_mergejoin']
const settings = [
  ['join_collapse_limit', '1'] as const,
  // Without this, PostgreSQL plans a query with a LIMIT at each call: it takes the plan for unknown values to be worse.
  ['plan_cache_mode', 'force_generic_plan'] as const,
  ...without.map((name) => [name, 'off'] as const),
]
const set = prepare(
  () =>
    sql`SELECT ${sql.join(settings.map(([name, value]) => sql`set_config(${sql.lit(name)}, ${sql.lit(value)}, true)`))}`,
)

/**
 * Makes PostgreSQL use indexes, and join tables in the written order, in this transaction. A queue may grow from 0 to
 * 100,000 rows in a minute. Its statistics are then stale, and a plan for few rows reads all of them. A no-op on
 * SQLite, which has no statistics here.
 */
export async function followIndexes(tx: Tx): Promise<void> {
  if (tx.engine === 'postgres') await set(tx, {})
}
