import type { Migration } from '../migrate.ts'

/** Entries of the audit log that belong together, such as the changes of one session of an assistant. */
export const changeGroups: Migration = {
  name: '0029_change_groups',
  kind: 'expand',
  statements: () => [
    'ALTER TABLE audit_log ADD COLUMN change_group text',
    `CREATE INDEX audit_log_group ON audit_log (workspace_id, change_group, id) WHERE change_group IS NOT NULL`,
  ],
}
