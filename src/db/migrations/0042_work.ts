import type { Migration } from '../migrate.ts'

const replaced = ['reassignments', 'webhook_removals', 'webhook_resends', 'webhook_fanouts']

const nowOf = (engine: 'sqlite' | 'postgres') =>
  engine === 'sqlite'
    ? "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    : `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The columns of unfinished work as expressions of a table that this one replaces. */
type Old = { subject: string; position: string; created_at: string; from: string } & Partial<
  Record<'state' | 'actor' | 'request_id' | 'part', string>
>

const takeOver = (kind: string, { subject, position, created_at, from, ...more }: Old) =>
  `INSERT INTO work (id, workspace_id, kind, subject, state, position, actor, request_id, lease_ends_ms, created_at)
SELECT 'wrk_${kind}_' || ${more.part ?? subject}, workspace_id, '${kind}', ${subject}, ${more.state ?? "'running'"},
  ${position}, ${more.actor ?? "'service'"}, ${more.request_id ?? 'NULL'}, 0, ${created_at} FROM ${from}`

/** Unfinished work of all kinds, in place of a table for each kind. */
export const work: Migration = {
  name: '0042_work',
  kind: 'contract',
  statements: (engine) => [
    // A process of the version before that still runs has to end its transactions first, and its later ones fail.
    ...(engine === 'postgres' ? [`LOCK TABLE ${replaced.join(', ')} IN ACCESS EXCLUSIVE MODE`] : []),
    `CREATE TABLE work (
  id text NOT NULL,
  workspace_id bigint NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  state text NOT NULL,
  position text NOT NULL,
  actor text NOT NULL,
  request_id text,
  lease_ends_ms bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  last_error text,
  created_at text NOT NULL,
  PRIMARY KEY (workspace_id, id)
)`,
    'CREATE INDEX work_due ON work (kind, lease_ends_ms, id)',
    'CREATE INDEX work_subject ON work (workspace_id, kind, subject)',
    takeOver('reassignment', {
      subject: 'from_id',
      position: "'{\"to_id\":' || coalesce('\"' || to_id || '\"', 'null') || '}'",
      actor: 'actor',
      request_id: 'request_id',
      created_at: nowOf(engine),
      from: 'reassignments',
    }),
    takeOver('webhook_removal', {
      subject: 'webhook_id',
      position: "'null'",
      created_at: 'removed_at',
      from: 'webhook_removals',
    }),
    takeOver('resend', {
      subject: 'webhook_id',
      part: 'first_id',
      position: 'delivery_ids',
      created_at: nowOf(engine),
      from: 'webhook_resends',
    }),
    takeOver('webhook_order', {
      subject: 'id',
      position: "'null'",
      created_at: nowOf(engine),
      from: `webhooks WHERE ordered = 0 AND EXISTS (
    SELECT 1 FROM webhook_queue AS q WHERE q.webhook_id = webhooks.id AND q.record_key IS NOT NULL)`,
    }),
    takeOver('fan_out', {
      subject: 'webhook_id',
      part: "webhook_id || '_' || first_id",
      position: `'{"event_ids":' || event_ids || ',"format":' || coalesce('"' || format || '"', 'null') || '}'`,
      created_at: '(SELECT e.occurred_at FROM events AS e WHERE e.id = first_id)',
      from: 'webhook_fanouts',
    }),
    ...replaced.map((table) => `DROP TABLE ${table}`),
  ],
}
