import type { Migration } from '../migrate.ts'

const webhook_columns = [
  // Null: the installation's. A JSON array of seconds.
  'retry_delays text',
  'timeout_ms bigint',
  // Starts of the last second, and when the next one may follow.
  'max_per_second bigint',
  'recent_starts text',
  'paced_until_ms bigint',
  // Encrypted JSON.
  'headers text',
  'conditions text',
  'format text',
  'ordered bigint NOT NULL DEFAULT 0',
]

/**
 * The events of a webhook, and their form. Queued deliveries of an ordered webhook have their record and their place in its order.
 * webhook_registrations keeps what a webhook asked for, from an event on, as long as events are kept.
 */
export const webhookOptions: Migration = {
  name: '0027_webhook_options',
  kind: 'expand',
  statements: () => [
    ...webhook_columns.map((column) => `ALTER TABLE webhooks ADD COLUMN ${column}`),
    'ALTER TABLE webhook_deliveries ADD COLUMN format text',
    'ALTER TABLE webhook_queue ADD COLUMN record_key text',
    'ALTER TABLE webhook_queue ADD COLUMN order_seq bigint',
    `CREATE INDEX webhook_queue_record ON webhook_queue (webhook_id, record_key, order_seq, delivery_id)
      WHERE record_key IS NOT NULL`,
    `CREATE INDEX webhook_queue_record_claimed ON webhook_queue (webhook_id, record_key)
      WHERE record_key IS NOT NULL AND claim_id IS NOT NULL`,
    `CREATE TABLE webhook_registrations (
  workspace_id bigint NOT NULL,
  webhook_id text NOT NULL,
  from_seq bigint NOT NULL,
  events text,
  conditions text,
  PRIMARY KEY (workspace_id, webhook_id, from_seq)
)`,
  ],
}
