import type { Migration } from '../migrate.ts'

/** Events for one webhook alone, and the backfills that send the present records to a webhook. */
export const backfills: Migration = {
  name: '0028_backfills',
  kind: 'expand',
  statements: () => [
    'ALTER TABLE events ADD COLUMN webhook_id text',
    `CREATE TABLE webhook_backfills (
  workspace_id bigint NOT NULL,
  webhook_id text NOT NULL,
  status text NOT NULL,
  kinds text NOT NULL,
  since text,
  kind text,
  last_id bigint NOT NULL,
  up_to bigint NOT NULL,
  total bigint NOT NULL,
  sent bigint NOT NULL,
  actor text NOT NULL,
  request_id text,
  started_at text NOT NULL,
  finished_at text,
  PRIMARY KEY (workspace_id, webhook_id)
)`,
    `CREATE INDEX webhook_queue_backfill ON webhook_queue (workspace_id, webhook_id) WHERE kind = 'backfill'`,
  ],
}
