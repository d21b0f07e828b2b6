import type { Migration } from '../migrate.ts'

/** Finds the deliveries of a record, by its events, and those whose answer had the status code of a failure. */
export const deliveryFilters: Migration = {
  name: '0039_delivery_filters',
  kind: 'expand',
  scans: ['events', 'webhook_attempts'],
  statements: (engine) => [
    // SQLite's index already ends with the seq.
    `CREATE INDEX events_record ON events (workspace_id, record_id${engine === 'sqlite' ? '' : ', seq'})
      WHERE record_id IS NOT NULL`,
    `CREATE INDEX webhook_attempts_status ON webhook_attempts (workspace_id, response_status, delivery_id, number)
      WHERE response_status >= 300`,
  ],
}
