import type { Migration } from '../migrate.ts'

const count = (row: 'old' | 'new') => `INSERT INTO record_blocks (workspace_id, kind, block, slot, n, changes)
      VALUES (${row}.workspace_id, TG_TABLE_NAME, ${row}.id >> 12, pg_backend_pid() % 64, TG_ARGV[0]::bigint, 1)
      ON CONFLICT (workspace_id, kind, block, slot) DO UPDATE
      SET n = record_blocks.n + excluded.n, changes = record_blocks.changes + excluded.changes;`

const for_postgres = [
  `CREATE OR REPLACE FUNCTION count_in_block() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      ${count('old')}
    ELSE
      ${count('new')}
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION count_added_in_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO record_blocks (workspace_id, kind, block, slot, n, changes)
      SELECT workspace_id, TG_TABLE_NAME, id >> 12, pg_backend_pid() % 64, count(*), count(*)
      FROM added WHERE deleted_at IS NULL GROUP BY 1, 3 ORDER BY 1, 3
      ON CONFLICT (workspace_id, kind, block, slot) DO UPDATE
      SET n = record_blocks.n + excluded.n, changes = record_blocks.changes + excluded.changes;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER contacts_block_text AFTER UPDATE OF search_text ON contacts FOR EACH ROW
    WHEN (old.deleted_at IS NULL AND new.deleted_at IS NULL AND old.search_text <> new.search_text)
    EXECUTE FUNCTION count_in_block('0')`,
]

// Each change of a searched text is listed there once in a commit.
const for_sqlite = [
  `CREATE TRIGGER contacts_search_changes_block AFTER INSERT ON contacts_search_changes
  BEGIN
    INSERT INTO record_blocks (workspace_id, kind, block, slot, n, changes)
      VALUES (new.workspace_id, 'contacts', new.id >> 12, 0, 0, 1)
      ON CONFLICT (workspace_id, kind, block, slot) DO UPDATE SET changes = record_blocks.changes + 1;
  END`,
]

/** Counts the changes of the searched texts in each block of ids (db/lists/frequent-words.ts). */
export const searchChanges: Migration = {
  name: '0054_search_changes',
  kind: 'expand',
  statements: (engine) => [
    'ALTER TABLE record_blocks ADD COLUMN changes bigint NOT NULL DEFAULT 0',
    ...(engine === 'sqlite' ? for_sqlite : for_postgres),
  ],
}
