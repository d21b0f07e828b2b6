import type { Migration } from '../migrate.ts'

/** Imports of files: their bytes until they are read, rows with errors, and what undoes them. */
export const imports: Migration = {
  name: '0022_imports',
  kind: 'expand',
  statements: (engine) => {
    const [bytes, clustered] = engine === 'sqlite' ? ['blob', ' WITHOUT ROWID'] : ['bytea', '']
    return [
      `CREATE TABLE imports (
  id text NOT NULL,
  workspace_id bigint NOT NULL,
  resource text NOT NULL,
  status text NOT NULL,
  file_name text,
  options text NOT NULL,
  form text,
  rows_read bigint NOT NULL DEFAULT 0,
  created bigint NOT NULL DEFAULT 0,
  updated bigint NOT NULL DEFAULT 0,
  skipped bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  errors bigint NOT NULL DEFAULT 0,
  message text,
  created_by text NOT NULL,
  request_id text,
  created_at text NOT NULL,
  started_at text,
  finished_at text,
  last_row bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  claim_id text,
  claims bigint NOT NULL DEFAULT 0,
  lease_ends_ms bigint NOT NULL,
  restored bigint NOT NULL DEFAULT 0,
  not_restored text,
  undone_by text,
  PRIMARY KEY (workspace_id, id)
)`,
      "CREATE INDEX imports_pending ON imports (lease_ends_ms) WHERE status IN ('uploading', 'queued', 'running')",
      'CREATE INDEX imports_undoing ON imports (lease_ends_ms) WHERE undone_by IS NOT NULL',
      `CREATE TABLE import_chunks (
  workspace_id bigint NOT NULL,
  import_id text NOT NULL,
  number bigint NOT NULL,
  content ${bytes} NOT NULL,
  PRIMARY KEY (workspace_id, import_id, number)
)`,
      `CREATE TABLE import_errors (
  workspace_id bigint NOT NULL,
  import_id text NOT NULL,
  number bigint NOT NULL,
  row_number bigint NOT NULL,
  content text NOT NULL,
  field text NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (workspace_id, import_id, number)
)`,
      `CREATE TABLE import_changes (
  workspace_id bigint NOT NULL,
  import_id text NOT NULL,
  kind text NOT NULL,
  record_id bigint NOT NULL,
  changed_at text NOT NULL,
  before text,
  PRIMARY KEY (workspace_id, import_id, kind, record_id)
)${clustered}`,
    ]
  },
}
