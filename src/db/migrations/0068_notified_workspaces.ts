import type { Migration } from '../migrate.ts'

/** Notifies each workspace of a mail server that refuses. Processes of earlier versions write the flag that this removes. */
export const notifiedWorkspaces: Migration = {
  name: '0068_notified_workspaces',
  kind: 'contract',
  statements: () => [
    "ALTER TABLE mail_server ADD COLUMN notified_workspaces text NOT NULL DEFAULT '[]'",
    'ALTER TABLE mail_server DROP COLUMN is_told',
  ],
}
