import type { Migration } from '../migrate.ts'

/** The counters of an import by the kind of its rows. */
export const importKinds: Migration = {
  name: '0035_import_kinds',
  kind: 'expand',
  statements: () => ["ALTER TABLE imports ADD COLUMN kinds text NOT NULL DEFAULT '[]'"],
}
