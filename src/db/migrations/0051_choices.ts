import type { Migration } from '../migrate.ts'

/** The names of the stages of a workspace, and the values that it offers for texts such as the reason of a loss. */
export const choices: Migration = {
  name: '0051_choices',
  kind: 'expand',
  statements: () => [
    `CREATE TABLE choices (
  workspace_id bigint NOT NULL,
  list text NOT NULL,
  value text NOT NULL,
  place bigint NOT NULL,
  label text,
  colour text,
  probability bigint,
  stale_after_days bigint,
  PRIMARY KEY (workspace_id, list, value)
)`,
  ],
}
