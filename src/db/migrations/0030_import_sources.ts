import type { Migration } from '../migrate.ts'

/** Records that came from an archive are found by the ids that they had in it. */
export const importSources: Migration = {
  name: '0030_import_sources',
  kind: 'expand',
  scans: ['import_changes'],
  statements: () => [
    'ALTER TABLE import_changes ADD COLUMN source_id bigint',
    'CREATE INDEX import_changes_by_source ON import_changes (workspace_id, import_id, kind, source_id) WHERE source_id IS NOT NULL',
  ],
}
