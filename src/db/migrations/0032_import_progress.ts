import type { Migration } from '../migrate.ts'

/** The share of its file that an import has read. */
export const importProgress: Migration = {
  name: '0032_import_progress',
  kind: 'expand',
  statements: () => ['ALTER TABLE imports ADD COLUMN progress double precision NOT NULL DEFAULT 0'],
}
