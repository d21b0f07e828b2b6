import { sql } from 'kysely'
import type { Db } from '../db.ts'
import type { Migration } from '../migrate.ts'
import { cut, normalised } from './0003_sort_names.ts'
import { liveIndex, sortNameColumn } from './parts.ts'

const titles = { activities: 'subject', appointments: 'title' } as const

/** The names of activities and appointments, by which lists sort and search them. Older processes do not write them. */
export const subjectNames: Migration = {
  name: '0027_subject_names',
  kind: 'contract',
  scans: Object.keys(titles),
  statements: (engine) =>
    Object.keys(titles).flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN ${sortNameColumn(engine)}`,
      liveIndex(table, 'by_name', 'sort_name'),
    ]),
  fill: async (tx) => {
    for (const [table, title] of Object.entries(titles)) await setNames(tx, table, title)
  },
}

type Row = { workspace_id: number; id: number; title: string }

async function setNames(tx: Db, table: string, title: string): Promise<void> {
  for (let last = { workspace_id: 0, id: 0 }; ; ) {
    const { rows } =
      await sql<Row>`SELECT workspace_id, id, ${sql.ref(title)} AS title FROM ${sql.table(table)}
      WHERE (workspace_id, id) > (${last.workspace_id}, ${last.id}) ORDER BY workspace_id, id LIMIT 1000`.execute(
        tx,
      )
    const end = rows.at(-1)
    if (!end) return
    const named = rows.map(
      (row) =>
        sql`(CAST(${row.workspace_id} AS bigint), CAST(${row.id} AS bigint), CAST(${cut(normalised(row.title))} AS text))`,
    )
    await sql`UPDATE ${sql.table(table)} AS t SET sort_name = r.column3 FROM (VALUES ${sql.join(named)}) AS r
      WHERE t.workspace_id = r.column1 AND t.id = r.column2`.execute(tx)
    last = end
  }
}
