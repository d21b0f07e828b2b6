import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { databaseFile } from '../../src/db/engines/sqlite/open.ts'
import { jobs } from '../../src/jobs/jobs.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { beside } from '../keys.ts'
import { request_env, startRequests } from '../valid-requests.ts'

// A statement that reads a whole table blocks the event loop for longer with each row, and nobody sees it in a small database.

const rapport = useRapport({ env: request_env })

// Tables of which a large installation has millions of rows.
const growing = [
  ...['contacts', 'companies', 'deals', 'activities', 'appointments', 'notes', 'company_notes', 'deal_notes'],
  ...['deal_stages', 'taken_times', 'bookings', 'booking_visits', 'busy_periods', 'field_values'],
  ...[
    'audit_log',
    'events',
    'webhook_deliveries',
    'webhook_attempts',
    'webhook_queue',
    'mails',
    'mail_attempts',
  ],
  ...['notifications', 'mail_causes', 'import_chunks', 'import_errors', 'import_changes', 'merged_records'],
]
const allowed = [
  // An index of few rows is read whole: what waits, is in flight, or lies ahead.
  /INDEX (?:mails_due|mails_failed|webhook_queue_claimed|appointments_requested|bookings_sealed)\b/,
  // The newest 2,000 of a list.
  /FROM \(SELECT \* FROM "\w+" WHERE workspace_id = \? AND deleted_at IS NULL ORDER BY id DESC LIMIT 2000\)/,
  // Statements of the preparation of this test.
  /^update "(?:mails|audit_log)" set "(?:status|change_group)" = .* where "(?:id|kind)" = \?/,
]

/** Whether a statement calls one of the tables so. */
const isGrowing = (sql: string, name: string) =>
  growing.some((table) => table === name || new RegExp(`\\b${table}"? (?:as )?"?${name}\\b`, 'i').test(sql))

test('no request and no job reads a whole table that grows', async () => {
  const seen = new Set<string>()
  subscribe('rapport:sqlite:statement:begun', (sql) => void seen.add(String(sql)))
  const requests = await startRequests(rapport)
  for (const operation of requests.operations) await requests.send(await requests.request(operation))
  await beside(rapport.data_dir, async (db) => {
    const clock = { ...turnableClock(), mayRemove: async () => true, removal: () => ({ held: true }) }
    const config = {
      delivery_log_days: 1,
      mail_log_days: 1,
      trash_days: 1,
      audit_log_days: 1,
      sign_in_address_days: 1,
    }
    const readableKinds = () => null
    const rest = { mailer: null, poller: { pollDue: async () => {} }, durability: { look: async () => {} } }
    const list = jobs({ db, clock, config, readableKinds, lookAtZones: async () => {}, ...rest } as never)
    for (const job of list.filter(({ name }) => name !== 'service clock'))
      await job.run(new AbortController().signal)
  })
  const database = new DatabaseSync(databaseFile(rapport.data_dir))
  const scans = [...seen].flatMap((sql) => {
    if (!/^\s*(?:with|select|insert|update|delete)/i.test(sql)) return []
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all()
    return plan.flatMap(({ detail }) => {
      const [, name] = /^SCAN (\w+)/.exec(String(detail)) ?? []
      const is_bad =
        name && isGrowing(sql, name) && !allowed.some((one) => one.test(sql) || one.test(String(detail)))
      return is_bad ? [`${detail}: ${sql.replaceAll(/\s+/g, ' ').slice(0, 300)}`] : []
    })
  })
  database.close()
  assert.deepEqual(scans, [])
})
