import type { Migration } from '../migrate.ts'

const references = {
  contacts: ['company_id'],
  notes: ['contact_id'],
  deals: ['contact_id', 'company_id'],
  activities: ['contact_id', 'company_id', 'deal_id'],
  appointments: ['contact_id', 'booking_page_id'],
}

/** What the removal of records for good needs: the way from a record to all that refer to it. */
export const finalRemoval: Migration = {
  name: '0008_final_removal',
  statements: () => [
    // Those of the lists leave out what is in the trash. The database asks by these itself before it lets a row go.
    ...Object.entries(references).flatMap(([table, columns]) =>
      columns.map(
        (column) => `CREATE INDEX ${table}_${column}_all ON ${table} (${column}) WHERE ${column} IS NOT NULL`,
      ),
    ),
  ],
}
