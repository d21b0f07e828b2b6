import type { Migration } from '../migrate.ts'

/** What is wrong with a row of an import, for programs. Errors of earlier imports have none. */
export const importErrorCodes: Migration = {
  name: '0037_import_error_codes',
  kind: 'expand',
  statements: () => ["ALTER TABLE import_errors ADD COLUMN code text NOT NULL DEFAULT ''"],
}
