import { sql } from 'kysely'
import type { Db } from '../db.ts'
import { engineOf, prepare } from './prepare.ts'

// Local to the transaction. A plan that is kept was made under these settings too: its statements run nowhere else.
const without = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_hashjoin', 'enable_mergejoin']
const settings = [['join_collapse_limit', '1'] as const, ...without.map((name) => [name, 'off'] as const)]
const set = prepare((db) => ({
  compile: () =>
    sql`SELECT ${sql.join(settings.map(([name, value]) => sql`set_config(${sql.lit(name)}, ${sql.lit(value)}, true)`))}`.compile(
      db,
    ),
}))

/**
 * Lets the statements of this transaction go row by row along indexes, and join tables in the order in which they stand,
 * whatever PostgreSQL knows of the tables. A queue is
 * empty one minute and has 100,000 rows in the next: the statistics are never of now, and a plan that was good for few
 * rows would read them all each time. SQLite has no statistics here, and does so anyway.
 */
export async function followIndexes(tx: Db): Promise<void> {
  if (engineOf(tx) === 'postgres') await set(tx, {})
}
