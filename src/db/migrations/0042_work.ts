import type { Migration } from '../migrate.ts'

const replaced = [
  'reassignments',
  'webhook_removals',
  'webhook_resends',
  'webhook_fanouts',
  'webhook_backfills',
]

// Columns of these hold leases.
const changed = ['field_definitions', 'merges', 'imports']

type Engine = 'sqlite' | 'postgres'

/** A JSON object of columns, and of one that is JSON. */
const objectOf = (engine: Engine, columns: string[], json?: string) => {
  const plain = columns.map((name) => `'${name}', ${name}`)
  if (engine === 'sqlite')
    return `json_object(${[...plain, ...(json ? [`'${json}', json(${json})`] : [])].join(', ')})`
  return `json_build_object(${[...plain, ...(json ? [`'${json}', ${json}::json`] : [])].join(', ')})::text`
}

const nowOf = (engine: Engine) =>
  engine === 'sqlite'
    ? "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    : `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The columns of work as expressions of a table that it replaces. */
type Old = { subject: string; position: string; created_at: string; from: string } & Partial<
  Record<'state' | 'actor' | 'request_id' | 'part' | 'lease', string>
>

const takeOver = (kind: string, { subject, position, created_at, from, ...more }: Old) =>
  `INSERT INTO work (id, workspace_id, kind, subject, state, position, actor, request_id, lease_ends_ms, created_at)
SELECT 'wrk_${kind}_' || ${more.part ?? subject}, workspace_id, '${kind}', ${subject}, ${more.state ?? "'running'"}, ${position},
  ${more.actor ?? "'service'"}, ${more.request_id ?? 'NULL'}, ${more.lease ?? 0}, ${created_at} FROM ${from}`

/** Unfinished work of all kinds, in place of a table for each kind. */
export const work: Migration = {
  name: '0042_work',
  kind: 'contract',
  statements: (engine) => [
    // A process of the version before that still runs has to end its transactions first, and its later ones fail.
    ...(engine === 'postgres'
      ? [`LOCK TABLE ${[...replaced, ...changed].join(', ')} IN ACCESS EXCLUSIVE MODE`]
      : []),
    `CREATE TABLE work (
  id text NOT NULL,
  workspace_id bigint NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  state text NOT NULL,
  position text NOT NULL,
  actor text NOT NULL,
  request_id text,
  lease_ends_ms bigint,
  attempts bigint NOT NULL DEFAULT 0,
  last_error text,
  created_at text NOT NULL,
  PRIMARY KEY (workspace_id, id)
)`,
    'CREATE INDEX work_due ON work (kind, lease_ends_ms, id)',
    'CREATE INDEX work_subject ON work (workspace_id, kind, subject)',
    takeOver('reassignment', {
      subject: 'from_id',
      position: objectOf(engine, ['to_id']),
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
      position: objectOf(engine, ['format'], 'event_ids'),
      created_at: `coalesce((SELECT e.occurred_at FROM events AS e WHERE e.id = first_id), ${nowOf(engine)})`,
      from: 'webhook_fanouts',
    }),
    takeOver('backfill', {
      subject: 'webhook_id',
      state: 'status',
      position: objectOf(
        engine,
        ['since', 'kind', 'last_id', 'up_to', 'total', 'sent', 'finished_at'],
        'kinds',
      ),
      actor: 'actor',
      request_id: 'request_id',
      lease: "CASE WHEN status <> 'succeeded' THEN 0 END",
      created_at: 'started_at',
      from: 'webhook_backfills',
    }),
    takeOver('custom_field', {
      subject: 'CAST(id AS text)',
      part: 'CAST(id AS text)',
      position: "'null'",
      state: "CASE WHEN status = 'removed' THEN 'removing' ELSE 'running' END",
      created_at: 'updated_at',
      from: 'field_definitions WHERE checked_until_ms IS NOT NULL',
    }),
    'DROP INDEX field_definitions_unfinished',
    'ALTER TABLE field_definitions DROP COLUMN checked_until_ms',
    takeOver('merge', {
      subject: 'CAST(id AS text)',
      part: 'CAST(id AS text)',
      position: `'"' || kind || '"'`,
      actor: 'worked_by',
      request_id: 'request_id',
      created_at: 'created_at',
      from: "merges WHERE status IN ('running', 'undoing')",
    }),
    ...['worked_by', 'request_id', 'run_at_ms'].map((name) => `ALTER TABLE merges DROP COLUMN ${name}`),
    takeOver('import_undo', {
      subject: 'id',
      position: `'{"waiting":[],"restored":0,"ascending":false,"is_last":false}'`,
      actor: 'undone_by',
      created_at: nowOf(engine),
      from: 'imports WHERE undone_by IS NOT NULL',
    }),
    'DROP INDEX imports_undoing',
    'ALTER TABLE imports DROP COLUMN undone_by',
    ...replaced.map((table) => `DROP TABLE ${table}`),
  ],
}
