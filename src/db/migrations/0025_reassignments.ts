import type { Migration } from '../migrate.ts'

/** The rest of a reassignment of more than one batch. */
export const reassignments: Migration = {
  name: '0025_reassignments',
  kind: 'expand',
  statements: () => [
    `CREATE TABLE reassignments (
  workspace_id bigint NOT NULL,
  from_id text NOT NULL,
  to_id text,
  actor text NOT NULL,
  request_id text,
  PRIMARY KEY (workspace_id, from_id)
)`,
  ],
}
