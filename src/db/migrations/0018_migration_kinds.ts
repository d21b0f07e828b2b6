import type { Migration } from '../migrate.ts'

/** Every migration that ran keeps its kind, so that an older version sees whether it can run beside it. */
export const migrationKinds: Migration = {
  name: '0018_migration_kinds',
  kind: 'expand',
  statements: () => ["ALTER TABLE schema_migrations ADD COLUMN kind text NOT NULL DEFAULT 'contract'"],
}
