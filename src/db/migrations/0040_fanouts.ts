import type { Migration } from '../migrate.ts'

/** The deliveries of large transactions, until they are inserted: which webhook gets which events. */
export const fanouts: Migration = {
  name: '0040_fanouts',
  kind: 'expand',
  statements: () => [
    `CREATE TABLE webhook_fanouts (
  workspace_id bigint NOT NULL,
  webhook_id text NOT NULL,
  first_id text NOT NULL,
  event_ids text NOT NULL,
  format text,
  PRIMARY KEY (workspace_id, webhook_id, first_id)
)`,
    'CREATE INDEX webhook_fanouts_oldest ON webhook_fanouts (first_id)',
  ],
}
