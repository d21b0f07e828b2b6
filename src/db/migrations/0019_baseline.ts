import type { Migration } from '../migrate.ts'
import { busy, type Engine, identity, int, table, withoutRowid } from './parts.ts'
import { baselineRecords } from './records-of-baseline.ts'

// Every table is keyed and indexed by workspace first, so that an installation can be sharded by workspace.

/** The schema of version 0.1.0. Its databases made it by the migrations 0001 to 0019. */
export const baseline: Migration = {
  name: '0019_baseline',
  kind: 'contract',
  replaces: '0019_event_traces',
  statements: (engine) => [
    // Every migration that ran keeps its kind, so that an older version sees whether it can run beside it.
    "ALTER TABLE schema_migrations ADD COLUMN kind text NOT NULL DEFAULT 'contract'",
    ...installation(engine),
    ...baselineRecords(engine),
    ...outbox(engine),
    ...people(engine),
    ...auditLog(engine),
  ],
}

/** Workspaces, keys and settings, and what requests keep: totals of lists, answers, values of tags and custom fields. */
const installation = (engine: Engine): string[] => [
  table('workspaces', [
    `id ${identity(engine)}${engine === 'sqlite' ? '' : ' PRIMARY KEY'}, name text NOT NULL,
    created_at text NOT NULL, currency text NOT NULL DEFAULT 'EUR'`,
  ]),
  table('api_keys', [
    'id text PRIMARY KEY',
    'workspace_id bigint NOT NULL REFERENCES workspaces (id)',
    'name text NOT NULL',
    'hash text NOT NULL UNIQUE',
    'scopes text',
    'created_at text NOT NULL',
    'expires_at text',
    'last_used_at text',
    'revoked_at text',
    // The id of a key or a person. Null for keys of the command line, and for keys that are older than this column.
    'made_by text',
  ]),
  'CREATE INDEX api_keys_workspace ON api_keys (workspace_id, id)',
  'CREATE INDEX api_keys_maker ON api_keys (workspace_id, made_by, id)',
  table('settings', ['name text PRIMARY KEY', 'value text NOT NULL']),
  table(
    'record_counts',
    [
      `workspace_id bigint NOT NULL, name text NOT NULL, slot smallint NOT NULL, n bigint NOT NULL,
      PRIMARY KEY (workspace_id, name, slot)`,
    ],
    busy(engine),
  ),
  table('idempotency_keys', [
    `workspace_id bigint NOT NULL, key_id text NOT NULL, path text NOT NULL, idempotency_key text NOT NULL,
    body_hash text NOT NULL, answer text, created_at_ms bigint NOT NULL,
    PRIMARY KEY (workspace_id, key_id, path, idempotency_key)`,
  ]),
  'CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at_ms)',
  table(
    'field_values',
    [
      `workspace_id bigint NOT NULL, kind text NOT NULL, field text NOT NULL, value text NOT NULL,
      record_id bigint NOT NULL, PRIMARY KEY (workspace_id, kind, field, value, record_id)`,
    ],
    withoutRowid(engine),
  ),
]

const outbox = (engine: Engine): string[] => {
  const textKey = engine === 'sqlite' ? 'UNIQUE (id)' : 'PRIMARY KEY (workspace_id, id)'
  return [
    table('events', [
      `seq ${identity(engine)}`,
      'id text NOT NULL',
      'workspace_id bigint NOT NULL',
      'event text NOT NULL',
      'occurred_at text NOT NULL',
      'record_id bigint',
      'payload text NOT NULL',
      // The trace context of the request that wrote the event (W3C traceparent). Its deliveries send it.
      'traceparent text',
      textKey,
    ]),
    ...(engine === 'sqlite' ? [] : ['CREATE INDEX events_seq ON events (seq)']),
    'CREATE INDEX events_feed ON events (workspace_id, seq)',
    table('webhooks', [
      `seq ${identity(engine)}`,
      'id text NOT NULL',
      'workspace_id bigint NOT NULL',
      'name text',
      'url text NOT NULL',
      'events text NOT NULL',
      'status text NOT NULL',
      'status_reason text',
      'secret text NOT NULL',
      'next_secret text',
      'next_secret_from_ms bigint',
      'created_at text NOT NULL',
      textKey,
    ]),
    'CREATE INDEX webhooks_list ON webhooks (workspace_id, seq)',
    table(
      'webhook_subscriptions',
      [
        `workspace_id bigint NOT NULL, event text NOT NULL, webhook_id text NOT NULL,
        PRIMARY KEY (workspace_id, event, webhook_id)`,
      ],
      withoutRowid(engine),
    ),
    ...deliveries(engine),
    // The rest of a deletion or a resend of many deliveries, to be done in small transactions, over restarts too.
    table('webhook_removals', [
      `workspace_id bigint NOT NULL, webhook_id text NOT NULL, removed_at text NOT NULL,
      PRIMARY KEY (workspace_id, webhook_id)`,
    ]),
    table('webhook_resends', [
      `workspace_id bigint NOT NULL, webhook_id text NOT NULL, first_id text NOT NULL, delivery_ids text NOT NULL,
      PRIMARY KEY (workspace_id, webhook_id, first_id)`,
    ]),
  ]
}

const deliveries = (engine: Engine): string[] => [
  // The ids of deliveries grow with time, so the log's order is the order of its ids.
  table(
    'webhook_deliveries',
    [
      `id text NOT NULL, workspace_id bigint NOT NULL, webhook_id text NOT NULL, event_id text NOT NULL,
      event text NOT NULL, status text NOT NULL, attempt_count bigint NOT NULL DEFAULT 0, next_attempt_at text,
      created_at text NOT NULL, finished_at text, PRIMARY KEY (workspace_id, id)`,
    ],
    withoutRowid(engine),
  ),
  // The log is read newest first by each of its filters; it is the largest table of a busy installation.
  'CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (workspace_id, webhook_id, id, status, event)',
  'CREATE INDEX webhook_deliveries_status ON webhook_deliveries (workspace_id, status, id)',
  'CREATE INDEX webhook_deliveries_name ON webhook_deliveries (workspace_id, event, id)',
  'CREATE INDEX webhook_deliveries_time ON webhook_deliveries (workspace_id, created_at)',
  'CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL',
  'CREATE INDEX webhook_deliveries_event ON webhook_deliveries (workspace_id, event_id)',
  table(
    'webhook_queue',
    [
      'delivery_id text NOT NULL',
      'workspace_id bigint NOT NULL',
      'webhook_id text NOT NULL',
      'kind text NOT NULL',
      'run_at_ms bigint NOT NULL',
      'tries smallint NOT NULL DEFAULT 0',
      'claim_id text',
      'claimed_at_ms bigint',
      // Claims that a crash ended.
      'interruptions smallint NOT NULL DEFAULT 0',
      'PRIMARY KEY (workspace_id, delivery_id)',
    ],
    busy(engine),
  ),
  // An index of SQLite already ends with the primary key. So deliveries with one due time are read in order, not
  // sorted for each claim.
  `CREATE INDEX webhook_queue_due ON webhook_queue (webhook_id, run_at_ms${engine === 'sqlite' ? '' : ', delivery_id'})`,
  'CREATE INDEX webhook_queue_claimed ON webhook_queue (run_at_ms) WHERE claim_id IS NOT NULL',
  table(
    'webhook_attempts',
    [
      'workspace_id bigint NOT NULL',
      'delivery_id text NOT NULL',
      // A delivery may be resent more than 32,767 times. SQLite's integers have no sizes.
      `number ${engine === 'sqlite' ? 'smallint' : 'integer'} NOT NULL`,
      'started_at text NOT NULL',
      'duration_ms bigint NOT NULL',
      'request_url text NOT NULL',
      'request_headers text NOT NULL',
      'response_status smallint',
      'response_headers text',
      'response_body text',
      'error_code text',
      'error_message text',
      'PRIMARY KEY (workspace_id, delivery_id, number)',
    ],
    withoutRowid(engine),
  ),
]

/** People, their memberships of workspaces and their sessions; and the saved views of a workspace. */
const people = (engine: Engine): string[] => {
  const workspace = `workspace_id ${int(engine)} NOT NULL REFERENCES workspaces (id)`
  const user = 'user_id text NOT NULL REFERENCES users (id)'
  return [
    // An e-mail may have several accounts: each belongs to the person who accepted its invitation. reset_hash is of a link for
    // a new password. left_at is the time since which an account has no workspace.
    `CREATE TABLE users (
        id text PRIMARY KEY, name text NOT NULL, email text NOT NULL, email_key text NOT NULL,
        password_hash text NOT NULL, time_zone text, language text,
        created_at text NOT NULL, updated_at text NOT NULL, reset_hash text UNIQUE, reset_expires_at text, left_at text
      )`,
    'CREATE INDEX users_email ON users (email_key, id)',
    'CREATE INDEX users_left ON users (left_at) WHERE left_at IS NOT NULL',
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
        name text PRIMARY KEY, failures ${int(engine)} NOT NULL, last_at_ms ${int(engine)} NOT NULL,
        blocked_until_ms ${int(engine)} NOT NULL
      )`,
    `CREATE TABLE saved_views (
        id text PRIMARY KEY, ${workspace}, list text NOT NULL, name text NOT NULL, query text NOT NULL,
        created_at text NOT NULL, updated_at text NOT NULL
      )`,
    'CREATE INDEX saved_views_list ON saved_views (workspace_id, list, id)',
  ]
}

/** The author, the time and the fields of each change. Rows change only when a person is erased. */
const auditLog = (engine: Engine): string[] => [
  `CREATE TABLE audit_log (
      id ${identity(engine)}, workspace_id ${int(engine)} NOT NULL,
      occurred_at text NOT NULL, actor_kind text NOT NULL, actor_id text, action text NOT NULL,
      kind text NOT NULL, record_id text NOT NULL, before text, after text, request_id text
      ${engine === 'sqlite' ? '' : ', PRIMARY KEY (workspace_id, id)'}
    )`,
  // Each index has the order of the list. Callers who may read only some kinds need the kind.
  'CREATE INDEX audit_log_time ON audit_log (workspace_id, occurred_at, id)',
  'CREATE INDEX audit_log_kind_record_id ON audit_log (workspace_id, kind, record_id, occurred_at, id)',
  "CREATE INDEX audit_log_sign_ins ON audit_log (occurred_at) WHERE action = 'signed_in' AND after IS NOT NULL",
  'CREATE INDEX audit_log_kind ON audit_log (workspace_id, kind, occurred_at, id)',
  ...['action', 'actor_id'].map(
    (column) =>
      `CREATE INDEX audit_log_${column} ON audit_log (workspace_id, ${column}, occurred_at, id, kind)`,
  ),
]
