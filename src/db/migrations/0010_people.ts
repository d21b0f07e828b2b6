import type { Migration } from '../migrate.ts'
import { liveIndex } from './parts.ts'

/** People, their memberships of workspaces and their sessions; and the saved views of a workspace. */
export const people: Migration = {
  name: '0010_people',
  kind: 'contract',
  statements: (engine) => {
    const int = engine === 'sqlite' ? 'INTEGER' : 'bigint'
    const workspace = `workspace_id ${int} NOT NULL REFERENCES workspaces (id)`
    const user = 'user_id text NOT NULL REFERENCES users (id)'
    return [
      "ALTER TABLE workspaces ADD COLUMN currency text NOT NULL DEFAULT 'EUR'",
      // email_key is the address without case: one person for each. reset_hash is of a link for a new password.
      `CREATE TABLE users (
        id text PRIMARY KEY, name text NOT NULL, email text NOT NULL, email_key text NOT NULL,
        password_hash text NOT NULL, time_zone text, language text,
        created_at text NOT NULL, updated_at text NOT NULL, reset_hash text UNIQUE, reset_expires_at text,
        CONSTRAINT users_email_key UNIQUE (email_key)
      )`,
      // entered_at: signing in goes to the workspace that was entered last.
      `CREATE TABLE memberships (
        ${workspace}, ${user}, role text NOT NULL, created_at text NOT NULL, entered_at text NOT NULL,
        PRIMARY KEY (workspace_id, user_id)
      )`,
      'CREATE INDEX memberships_user ON memberships (user_id, workspace_id)',
      `CREATE TABLE sessions (
        id text PRIMARY KEY, hash text NOT NULL UNIQUE, ${user}, ${workspace},
        created_at text NOT NULL, last_used_at text NOT NULL, expires_at text NOT NULL,
        user_agent text, address text
      )`,
      'CREATE INDEX sessions_user ON sessions (user_id, id)',
      'CREATE INDEX sessions_expiry ON sessions (expires_at)',
      `CREATE TABLE invitations (
        id text PRIMARY KEY, ${workspace}, email text NOT NULL, role text NOT NULL, hash text NOT NULL UNIQUE,
        invited_by text NOT NULL, created_at text NOT NULL, expires_at text NOT NULL,
        accepted_at text, revoked_at text
      )`,
      'CREATE INDEX invitations_workspace ON invitations (workspace_id, id)',
      'CREATE INDEX invitations_maker ON invitations (invited_by, id)',
      // By address and by name, so that neither many names nor many addresses get more tries.
      `CREATE TABLE sign_in_failures (
        name text PRIMARY KEY, failures ${int} NOT NULL, last_at_ms ${int} NOT NULL, blocked_until_ms ${int} NOT NULL
      )`,
      `CREATE TABLE saved_views (
        id text PRIMARY KEY, ${workspace}, list text NOT NULL, name text NOT NULL, query text NOT NULL,
        created_at text NOT NULL, updated_at text NOT NULL
      )`,
      'CREATE INDEX saved_views_list ON saved_views (workspace_id, list, id)',
      // The id of a key or a person. Null for keys of the command line, and for keys that are older than this column.
      'ALTER TABLE api_keys ADD COLUMN made_by text',
      'CREATE INDEX api_keys_workspace ON api_keys (workspace_id, id)',
      'CREATE INDEX api_keys_maker ON api_keys (workspace_id, made_by, id)',
      // Reports read only these indexes, so long texts of deals do not slow them. SQLite reads the row for a column
      // that is not in the index, also for deleted_at.
      'CREATE INDEX deals_pipeline ON deals (workspace_id, stage, own_probability, closed_probability, value_units, deleted_at) WHERE deleted_at IS NULL',
      'CREATE INDEX deals_closed ON deals (workspace_id, stage, closed_at, value_units, deleted_at) WHERE deleted_at IS NULL AND closed_at IS NOT NULL',
      // This index finds appointments that overlap a period, because they end after its beginning.
      liveIndex('appointments', 'by_end', 'end_at'),
    ]
  },
}
