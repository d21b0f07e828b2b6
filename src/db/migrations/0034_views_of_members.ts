import type { Migration } from '../migrate.ts'

/** Private views, the authors of views, and each member's own order and default of the tabs above a list. */
export const viewsOfMembers: Migration = {
  name: '0034_views_of_members',
  kind: 'expand',
  statements: (engine) => [
    "ALTER TABLE saved_views ADD COLUMN visibility text NOT NULL DEFAULT 'shared'",
    'ALTER TABLE saved_views ADD COLUMN created_by text',
    'ALTER TABLE saved_views ADD COLUMN updated_by text',
    `CREATE TABLE view_tabs (
  workspace_id ${engine === 'sqlite' ? 'INTEGER' : 'bigint'} NOT NULL,
  user_id text NOT NULL,
  list text NOT NULL,
  tabs text NOT NULL,
  default_tab text,
  PRIMARY KEY (workspace_id, user_id, list)
)`,
  ],
}
