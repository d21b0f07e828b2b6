// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from '../../../test/source-files.ts'
import { resources } from '../../resources/index.ts'
import { setting_columns } from './settings.ts'

// Each text column of the database, and what an erasure does with it. A new column needs a line here, or in
// `setting_columns`.

// Ids, times, hashes and words of the service: nobody types them.
const written_by_service =
  /^(id|ids|kind|kinds|list|action|event|events|status|type|form|format|source|field|code|error_code|visibility|role|resource|scopes|actor|actor_kind|currency|language|time_zone|checksum|traceparent|retry_delays|recent_starts|since|key|tabs|default_tab|held_by|change_group|record_key|record_kind|slot|outcome|(\w+_)?(id|ids|at|by|hash))$/

const removed = 'removed or emptied with the record'
const columns: Record<string, Record<string, string>> = {
  events: { payload: removed },
  audit_log: { before: removed, after: removed },
  idempotency_keys: { path: removed, idempotency_key: removed, answer: removed },
  record_counts: { name: removed },
  field_values: { value: removed },
  defined_values: { sort_value: removed, unique_value: removed },
  merges: { wanted: removed, changes: removed },
  merged_values: { value: removed },
  dismissed_pairs: { reason: 'a word of the service', value: removed },
  merge_links: { reason: 'a word of the service' },
  import_errors: { content: removed, message: removed },
  import_changes: { before: removed },
  import_chunks: { content: 'the file of an import that has not ended, which docs/trash.md says to let end' },
  imports: { not_restored: 'ids and words of the service' },
  work: {
    subject: 'an id',
    state: 'a word of the service',
    position:
      'ids and words of the service; the address of a request for a password, which goes with the work',
    last_error: 'goes with the work',
  },
  webhook_attempts: {
    request_url: 'the address of a receiver, as docs/trash.md says',
    request_headers: 'signatures and own headers, which are masked',
    response_headers: removed,
    response_body: removed,
    error_message: removed,
  },
  webhooks: {
    url: 'the address of a receiver, as docs/trash.md says',
    secret: 'sealed',
    next_secret: 'sealed',
    headers: 'sealed, as docs/trash.md says',
  },
  settings: { name: 'a setting of the installation', value: 'a setting of the installation' },
  taken_times: { calendar: 'an id' },
  schema_migrations: { name: 'a name of the program' },
  choices: { value: 'words of the workspace', label: 'words of the workspace', colour: 'a colour' },
  workspaces: { name: 'the name of the customer’s own organisation' },
  mails: {
    reason: 'a code or words of the service',
    recipient: removed,
    recipient_key: removed,
    subject: removed,
    text: removed,
    html: removed,
    tokens: removed,
    tokens_until: 'a time',
    calendar: removed,
    calendar_method: 'a word of the service',
    unsubscribe: 'the id of a member, or a keyed hash of an address',
    useless_at: 'a time',
    message_id: removed,
  },
  mail_attempts: {
    server: 'the address of the SMTP server',
    response_text: removed,
    error_message: removed,
  },
  mail_server: {
    notified_workspaces: 'ids of workspaces',
    last_error_code: 'a word of the service',
    last_error_message: 'the newest words of the SMTP server, of the installation',
  },
  mail_causes: { subject: 'a keyed hash or an id' },
  bookings: {
    uid: 'a hash',
    token: 'sealed, until the appointment ends',
    reminded: 'times and numbers of minutes',
  },
  sign_in_failures: { name: 'a hash of an address or an account' },
}
// Accounts of people who sign in have an erasure of their own: docs/people.md.
const of_accounts = [
  'users',
  'memberships',
  'sessions',
  'invitations',
  'view_tabs',
  'reset_links',
  'calendar_feeds',
  'busy_calendars',
  'busy_periods',
]
// The row of the record goes; texts of other records stay, as docs/trash.md says.
const of_records = resources.flatMap(({ table, owns }) => [table, ...Object.keys(owns)])

function textColumns(): [table: string, column: string][] {
  const tables = read('src/db/schema.sqlite.sql').matchAll(/^CREATE TABLE (\w+) \(\n(.*?)^\)/gms)
  return [...tables].flatMap(([, table = '', body = '']) =>
    [...body.matchAll(/^ {2}(\w+) (?:text|blob)\b/gm)].map(([, column = '']): [string, string] => [
      table,
      column,
    ]),
  )
}

test('every text that a workspace stores is covered by an erasure, or has the reason why it stays', () => {
  const found = textColumns()
  assert.ok(found.length > 200, `${found.length} columns`)
  const redacted: Record<string, { texts: readonly string[] }> = setting_columns
  const forgotten = found.filter(
    ([table, column]) =>
      !of_records.includes(table) &&
      !of_accounts.includes(table) &&
      !redacted[table]?.texts.includes(column) &&
      !columns[table]?.[column] &&
      !written_by_service.test(column),
  )
  assert.deepEqual(forgotten, [])
  const known = new Set(found.map(String))
  const gone = [
    ...Object.entries(columns).flatMap(([table, names]) =>
      Object.keys(names).map((name) => `${table},${name}`),
    ),
    ...Object.entries(redacted).flatMap(([table, { texts }]) => texts.map((name) => `${table},${name}`)),
  ].filter((name) => !known.has(name))
  assert.deepEqual(gone, [])
})
