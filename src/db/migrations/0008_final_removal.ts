import type { Migration } from '../migrate.ts'

const references = {
  contacts: ['company_id'],
  notes: ['contact_id'],
  deals: ['contact_id', 'company_id'],
  activities: ['contact_id', 'company_id', 'deal_id'],
  appointments: ['contact_id', 'booking_page_id'],
}

/** Indexes from a record to all rows that refer to it. The removal for good needs them. */
export const finalRemoval: Migration = {
  name: '0008_final_removal',
  kind: 'contract',
  statements: () => [
    // The indexes of lists do not have records in the trash. The database checks the foreign keys of a removed row by
    // these.
    ...Object.entries(references).flatMap(([table, columns]) =>
      columns.map(
        (column) => `CREATE INDEX ${table}_${column}_all ON ${table} (${column}) WHERE ${column} IS NOT NULL`,
      ),
    ),
  ],
}
