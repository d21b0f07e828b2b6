import type { Migration } from '../migrate.ts'

/** The source of a file and the account of its cells. Earlier imports have neither. */
export const importAccounts: Migration = {
  name: '0043_import_accounts',
  kind: 'expand',
  statements: () => [
    'ALTER TABLE imports ADD COLUMN source text',
    "ALTER TABLE imports ADD COLUMN account text NOT NULL DEFAULT '[]'",
  ],
}
