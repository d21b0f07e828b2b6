import type { Migration } from '../migrate.ts'

/** Links of mails that set a new password. An account can have several; each works once. */
export const resetLinks: Migration = {
  name: '0048_reset_links',
  kind: 'expand',
  statements: () => [
    `CREATE TABLE reset_links (
  hash text NOT NULL,
  user_id text NOT NULL,
  expires_at text NOT NULL,
  PRIMARY KEY (hash)
)`,
    'CREATE INDEX reset_links_user ON reset_links (user_id)',
    'CREATE INDEX reset_links_expires_at ON reset_links (expires_at)',
  ],
}
