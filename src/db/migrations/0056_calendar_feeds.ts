import type { Migration } from '../migrate.ts'

/** Calendars that programs of a person read, by the hash of the token in their address. */
export const calendarFeeds: Migration = {
  name: '0056_calendar_feeds',
  kind: 'expand',
  statements: () => [
    `CREATE TABLE calendar_feeds (
  id text PRIMARY KEY,
  workspace_id bigint NOT NULL,
  user_id text NOT NULL,
  hash text NOT NULL,
  name text NOT NULL,
  activities text NOT NULL,
  details text NOT NULL,
  created_at text NOT NULL,
  last_read_at text
)`,
    'CREATE UNIQUE INDEX calendar_feeds_hash ON calendar_feeds (hash)',
    'CREATE INDEX calendar_feeds_user ON calendar_feeds (workspace_id, user_id, id)',
  ],
}
