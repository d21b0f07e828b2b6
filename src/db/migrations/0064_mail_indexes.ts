import type { Migration } from '../migrate.ts'

/** Counts failed mails, and finds the secrets of links that have ended, without reading all mails. */
export const mailIndexes: Migration = {
  name: '0064_mail_indexes',
  kind: 'expand',
  scans: ['mails'],
  statements: () => [
    "CREATE INDEX mails_failed ON mails (workspace_id, id) WHERE status = 'failed'",
    "CREATE INDEX mails_secrets ON mails (tokens_until) WHERE tokens_until IS NOT NULL AND status <> 'pending'",
  ],
}
