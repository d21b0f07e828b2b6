import type { Migration } from '../migrate.ts'

/** The rest of a deletion or a resend of many deliveries, to be done in small transactions, over restarts too. */
export const backlogs: Migration = {
  name: '0012_backlogs',
  kind: 'contract',
  statements: () => [
    // A webhook that is deleted, while deliveries of it are still in the queue.
    `CREATE TABLE webhook_removals (
  workspace_id bigint NOT NULL,
  webhook_id text NOT NULL,
  removed_at text NOT NULL,
  PRIMARY KEY (workspace_id, webhook_id)
)`,
    // Failed deliveries that are promised to be sent again: a JSON array of ids, named by the first of them.
    `CREATE TABLE webhook_resends (
  workspace_id bigint NOT NULL,
  webhook_id text NOT NULL,
  first_id text NOT NULL,
  delivery_ids text NOT NULL,
  PRIMARY KEY (workspace_id, webhook_id, first_id)
)`,
  ],
}
