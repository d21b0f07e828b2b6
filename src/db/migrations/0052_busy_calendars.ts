import type { Migration } from '../migrate.ts'

/** Calendars of other programs, and the times at which their owners are busy. */
export const busyCalendars: Migration = {
  name: '0052_busy_calendars',
  kind: 'expand',
  statements: () => [
    `CREATE TABLE busy_calendars (
  id text NOT NULL,
  workspace_id bigint NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  username text,
  password text,
  time_zone text,
  poll_minutes bigint NOT NULL,
  stale_after_minutes bigint NOT NULL,
  created_at text NOT NULL,
  etag text,
  last_modified text,
  last_read_at text,
  last_read_ms bigint,
  stale_since text,
  expanded_ms bigint,
  refreshed_ms bigint,
  last_attempt_at text,
  error_code text,
  error_message text,
  failures bigint NOT NULL DEFAULT 0,
  busy_count bigint NOT NULL DEFAULT 0,
  skipped text NOT NULL DEFAULT '[]',
  skipped_count bigint NOT NULL DEFAULT 0,
  generation bigint NOT NULL DEFAULT 0,
  digest text,
  run_at_ms bigint NOT NULL,
  claim_id text,
  PRIMARY KEY (workspace_id, id)
)`,
    'CREATE INDEX busy_calendars_user ON busy_calendars (workspace_id, user_id)',
    'CREATE INDEX busy_calendars_due ON busy_calendars (run_at_ms)',
    `CREATE TABLE busy_periods (
  workspace_id bigint NOT NULL,
  calendar_id text NOT NULL,
  generation bigint NOT NULL,
  start_at text NOT NULL,
  end_at text NOT NULL,
  PRIMARY KEY (workspace_id, calendar_id, generation, start_at)
)`,
  ],
}
