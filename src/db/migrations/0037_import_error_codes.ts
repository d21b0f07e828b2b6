import type { Migration } from '../migrate.ts'

/** Adds the code of an import error. Errors of earlier imports have an empty code. */
export const importErrorCodes: Migration = {
  name: '0037_import_error_codes',
  kind: 'expand',
  statements: () => ["ALTER TABLE import_errors ADD COLUMN code text NOT NULL DEFAULT ''"],
}
