import { sql } from 'kysely'
import { type Db, transaction } from '../../db/db.ts'
import { rowLock } from '../../db/locks.ts'
import type { Resource } from '../../resources/resource.ts'

// The prefixes of names of totals that contain a text that a person typed.
const typed = (resources: readonly Resource[]) =>
  resources.flatMap((resource) =>
    resource.counted.flatMap((field) =>
      resource.columns[field]?.personal ? [`${resource.table}.${field}=`] : [],
    ),
  )

/** Removes totals of typed texts that no record has any longer: such a text may be personal data. */
export async function forgetEmptyTotals(
  db: Db,
  resources: readonly Resource[],
  workspace_id: number,
): Promise<void> {
  const mine = sql`workspace_id = ${workspace_id}`
  for (const prefix of typed(resources)) {
    const { rows } = await sql<{ name: string }>`
      SELECT name FROM record_counts WHERE ${mine} AND name LIKE ${`${prefix}%`}
      GROUP BY name HAVING sum(n) = 0`.execute(db)
    for (const { name } of rows)
      await transaction(db, async (tx) => {
        // Lock the rows: a concurrent addition waits, and then inserts a new row.
        const slots = await sql<{ slot: number; n: number }>`
          SELECT slot, n FROM record_counts WHERE ${mine} AND name = ${name}
          ORDER BY slot ${rowLock(tx, 'FOR UPDATE')}`.execute(tx)
        if (!slots.rows.length || slots.rows.reduce((sum, { n }) => sum + n, 0) !== 0) return
        await sql`DELETE FROM record_counts WHERE ${mine} AND name = ${name}
          AND slot IN (${sql.join(slots.rows.map(({ slot }) => slot))})`.execute(tx)
      })
  }
}
