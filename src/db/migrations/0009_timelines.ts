import type { Migration } from '../migrate.ts'

const links = {
  notes: ['contact_id'],
  deals: ['contact_id', 'company_id'],
  activities: ['contact_id', 'company_id', 'deal_id'],
  appointments: ['contact_id'],
}

/**
 * Adds the time to the indexes that find a record's notes, deals and so on. So a timeline sorts by time without reading
 * the rows: a company may have 10,000 of them.
 */
export const timelines: Migration = {
  name: '0009_timelines',
  kind: 'contract',
  statements: () => [
    ...Object.entries(links).flatMap(([table, columns]) =>
      columns.flatMap((column) => [
        `DROP INDEX ${table}_${column}_live`,
        `CREATE INDEX ${table}_${column}_live ON ${table} (workspace_id, ${column}, id, created_at) WHERE deleted_at IS NULL`,
      ]),
    ),
    'DROP INDEX deal_stages_deal',
    'CREATE INDEX deal_stages_deal ON deal_stages (workspace_id, deal_id, id, changed_at, from_stage)',
  ],
}
