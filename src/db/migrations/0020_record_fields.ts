import { sql } from 'kysely'
import type { Migration } from '../migrate.ts'
import type { Tx } from '../tx.ts'
import { cut, normalised } from './0003_sort_names.ts'
import { liveIndex, sortNameColumn } from './parts.ts'

const tags = "tags text NOT NULL DEFAULT '[]'"
const custom_fields = "custom_fields text NOT NULL DEFAULT '{}'"
const authors = ['created_by text', 'updated_by text']

const added: Record<string, string[]> = {
  contacts: ['owner_id text', ...authors],
  companies: ['owner_id text', tags, ...authors],
  deals: ['owner_id text', tags, custom_fields, ...authors],
  activities: ['owner_id text', tags, custom_fields, ...authors],
  appointments: ['owner_id text', tags, custom_fields, ...authors],
  notes: authors,
  booking_pages: authors,
}
const owned = Object.keys(added).filter((table) => added[table]?.includes('owner_id text'))

const titles = { activities: 'subject', appointments: 'title' } as const

/**
 * The owner, the tags, the custom fields and the authors of records, and the names by which activities and appointments are
 * sorted and searched. Older processes write neither these names nor the totals of owners.
 */
export const recordFields: Migration = {
  name: '0020_record_fields',
  kind: 'contract',
  scans: owned,
  statements: (engine) => [
    ...Object.entries(added).flatMap(([table, columns]) =>
      columns.map((column) => `ALTER TABLE ${table} ADD COLUMN ${column}`),
    ),
    // Records without an owner are in it, too: lists find them by it.
    ...owned.map((table) => liveIndex(table, 'owner_id_live', 'owner_id')),
    ...Object.keys(titles).flatMap((table) => [
      `ALTER TABLE ${table} ADD COLUMN ${sortNameColumn(engine)}`,
      liveIndex(table, 'by_name', 'sort_name'),
    ]),
  ],
  fill: async (tx) => {
    for (const [table, title] of Object.entries(titles)) await setNames(tx, table, title)
  },
}

type Row = { workspace_id: number; id: number; title: string }

async function setNames(tx: Tx, table: string, title: string): Promise<void> {
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
