import type { Migration } from '../migrate.ts'

/** Pairs of records that people have said are not the same, with the value that made them alike. */
export const dismissedPairs: Migration = {
  name: '0053_dismissed_pairs',
  kind: 'expand',
  statements: (engine) => [
    `CREATE TABLE dismissed_pairs (
  workspace_id bigint NOT NULL,
  kind text NOT NULL,
  reason text NOT NULL,
  value text${engine === 'sqlite' ? '' : ' COLLATE "C"'} NOT NULL,
  first_id bigint NOT NULL,
  second_id bigint NOT NULL,
  PRIMARY KEY (workspace_id, kind, reason, value, first_id, second_id)
)`,
    'CREATE INDEX dismissed_pairs_first ON dismissed_pairs (workspace_id, kind, first_id)',
    'CREATE INDEX dismissed_pairs_second ON dismissed_pairs (workspace_id, kind, second_id)',
  ],
}
