// runs: both
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openScratch, removeScratch, settingsOf } from '../../../test/engine.ts'
import { transaction } from '../db.ts'
import { migrate } from '../migrate.ts'
import { work } from './0042_work.ts'
import { migrations } from './index.ts'

const unfinished = [
  `INSERT INTO workspaces (id, name, created_at) VALUES (1, 'Old', '2026')`,
  `INSERT INTO reassignments VALUES (1, 'usr_1', 'usr_2', 'usr_3', 'req_1'), (1, 'usr_4', NULL, 'usr_3', NULL)`,
  `INSERT INTO webhook_removals VALUES (1, 'wh_gone', '2026-11-01')`,
  `INSERT INTO webhook_resends VALUES (1, 'wh_1', 'dlv_1', '["dlv_1","dlv_2"]'), (1, 'wh_1', 'dlv_3', '["dlv_3"]')`,
  `INSERT INTO events (id, workspace_id, event, occurred_at, payload) VALUES ('evt_1', 1, 'x', '2026-11-02', '')`,
  `INSERT INTO webhook_fanouts VALUES (1, 'wh_1', 'evt_1', '["evt_1"]', 'slack'), (1, 'wh_2', 'evt_1', '["evt_1"]', NULL)`,
  `INSERT INTO webhook_backfills VALUES
    (1, 'wh_1', 'running', '["contacts","deals"]', NULL, 'contacts', 5, 9, 20, 4, 'key_1', 'req_2', '2026-11-03', NULL),
    (1, 'wh_2', 'cancelled', '["deals"]', '2026-01-01', NULL, 0, 0, 2, 0, 'key_1', NULL, '2026-11-03', '2026-11-04'),
    (1, 'wh_3', 'succeeded', '["deals"]', NULL, NULL, 0, 0, 2, 2, 'key_1', NULL, '2026-11-03', '2026-11-04')`,
  `INSERT INTO webhooks (id, workspace_id, url, events, status, secret, created_at, ordered)
    VALUES ('wh_1', 1, '', '[]', 'active', '', '2026', 0), ('wh_2', 1, '', '[]', 'active', '', '2026', 1)`,
  `INSERT INTO webhook_queue (delivery_id, workspace_id, webhook_id, kind, run_at_ms, record_key, order_seq)
    VALUES ('dlv_7', 1, 'wh_1', 'event', 0, 'deal:1', 1), ('dlv_8', 1, 'wh_2', 'event', 0, 'deal:1', 1)`,
  ...(['new', 'changing', 'removed', 'ready'] as const).map(
    (
      status,
      n,
    ) => `INSERT INTO field_definitions (id, workspace_id, kind, key, label, type, options, is_required,
      is_unique, position, created_at, updated_at, status, checked_until_ms)
      VALUES (${n + 1}, 1, 'deals', 'k${n}', '', 'text', '[]', 0, 0, 0, '2026', '2026', '${status}', ${status === 'ready' ? 'NULL' : 5})`,
  ),
  ...['running', 'undoing', 'done'].map(
    (
      status,
      n,
    ) => `INSERT INTO merges (id, workspace_id, kind, survivor_id, from_ids, wanted, status, created_by, worked_by,
      request_id, created_at, run_at_ms)
      VALUES (${n + 1}, 1, 'contacts', 1, '[2]', '{}', '${status}', 'usr_1', 'usr_2', 'req_3', '2026', 5)`,
  ),
  ...['usr_1', null].map(
    (
      by,
      n,
    ) => `INSERT INTO imports (id, workspace_id, resource, status, options, created_by, created_at, lease_ends_ms,
      undone_by) VALUES ('imp_${n}', 1, 'contacts', 'undone', '{}', 'usr_2', '2026', 0, ${by ? `'${by}'` : 'NULL'})`,
  ),
]
const backfill = { last_id: 0, up_to: 0, total: 2, sent: 0, kind: null }

test('unfinished work of the version before is taken over, and due at once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rapport-test-'))
  await settingsOf(folder, { migrated: false })
  t.after(() => removeScratch(folder))
  const database = await openScratch(folder)
  await migrate(database, migrations.slice(0, migrations.indexOf(work)))
  await transaction(database.db, async (tx) => {
    for (const statement of unfinished) await sql.raw(statement).execute(tx)
  })
  await migrate(database)
  const rows = await database.db.selectFrom('work').selectAll().orderBy('id').execute()
  const due = rows.filter(({ lease_ends_ms }) => lease_ends_ms !== null)
  assert.deepEqual(
    rows.filter((row) => !due.includes(row)).map(({ subject, state }) => [subject, state]),
    [['wh_3', 'succeeded']],
  )
  assert.ok(due.every(({ lease_ends_ms }) => lease_ends_ms === 0))
  const shown = due.map(({ kind, subject, state, position, actor, request_id }) =>
    JSON.stringify([kind, subject, state, actor, request_id, sorted(JSON.parse(position))]),
  )
  const expected: unknown[] = [
    ['reassignment', 'usr_1', 'running', 'usr_3', 'req_1', { to_id: 'usr_2' }],
    ['reassignment', 'usr_4', 'running', 'usr_3', null, { to_id: null }],
    ['webhook_removal', 'wh_gone', 'running', 'service', null, null],
    ['resend', 'wh_1', 'running', 'service', null, ['dlv_1', 'dlv_2']],
    ['resend', 'wh_1', 'running', 'service', null, ['dlv_3']],
    ['fan_out', 'wh_1', 'running', 'service', null, { event_ids: ['evt_1'], format: 'slack' }],
    ['fan_out', 'wh_2', 'running', 'service', null, { event_ids: ['evt_1'], format: null }],
    ['webhook_order', 'wh_1', 'running', 'service', null, null],
    [
      ...['backfill', 'wh_1', 'running', 'key_1', 'req_2'],
      sorted({
        kinds: ['contacts', 'deals'],
        since: null,
        kind: 'contacts',
        last_id: 5,
        up_to: 9,
        total: 20,
        sent: 4,
        finished_at: null,
      }),
    ],
    [
      ...['backfill', 'wh_2', 'cancelled', 'key_1', null],
      sorted({ ...backfill, kinds: ['deals'], since: '2026-01-01', finished_at: '2026-11-04' }),
    ],
    ['custom_field', '1', 'running', 'service', null, null],
    ['custom_field', '2', 'running', 'service', null, null],
    ['custom_field', '3', 'removing', 'service', null, null],
    ['merge', '1', 'running', 'usr_2', 'req_3', 'contacts'],
    ['merge', '2', 'running', 'usr_2', 'req_3', 'contacts'],
    [
      ...['import_undo', 'imp_0', 'running', 'usr_1', null],
      sorted({ waiting: [], restored: 0, ascending: false, is_last: false }),
    ],
  ]
  assert.deepEqual(shown.toSorted(), expected.map((one) => JSON.stringify(one)).toSorted())
})

/** The same object with its keys in order. */
const sorted = (value: unknown) =>
  value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
