import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { emptyTrash } from '../../src/across/trash/retention.ts'
import { createSeal } from '../../src/db/seal.ts'
import { resources } from '../../src/resources/index.ts'
import { readStored, type Stored } from '../database.ts'
import { openScratch, settingsOf } from '../engine.ts'
import { type Rapport, startRapport } from '../harness.ts'
import { until } from '../webhooks.ts'

// An open transaction of another connection, which fixes the order of concurrent work.
let rapport: Rapport
let stored: Stored
let other: pg.Client
before(async () => {
  rapport = await startRapport()
  stored = await readStored(rapport.data_dir)
  other = new pg.Client({ connectionString: (await settingsOf(rapport.data_dir)).DATABASE_URL })
  await other.connect()
})
after(async () => {
  await other.end()
  await stored.close()
  await rapport.close()
})

async function ok(method: string, path: string, body?: object) {
  const reply = await rapport.call(method, `/api/v1/${path}`, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body
}
const make = async (path: string, body: object): Promise<number> => (await ok('POST', path, body)).data.id

/** Resolves when a number of this database's transactions wait for another one. */
const waiting = (count: number) =>
  until(
    () =>
      stored.rows(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      ),
    ([row]) => Number(row?.n) >= count,
  )

test('a deal that gets another contact while the old one is removed keeps it, and is counted with it', async () => {
  const old = await make('contacts', { first_name: 'Ana', last_name: 'Old' })
  const next = await make('contacts', { first_name: 'Bo', last_name: 'New' })
  const deal = await make('deals', { name: 'Seats', contact_id: old })
  await ok('DELETE', `contacts/${old}`)
  await other.query("UPDATE contacts SET deleted_at = '2020-01-01T00:00:00.000Z' WHERE id = $1", [old])
  // The change has written the deal, and cannot count it yet.
  await other.query('BEGIN')
  await other.query('LOCK TABLE record_counts IN EXCLUSIVE MODE')
  const change = ok('PUT', `deals/${deal}`, { contact_id: next })
  await waiting(1)
  const { db, clock: wall, close } = await openScratch(rapport.data_dir)
  const clock = { ...wall, elapsed: wall.now }
  const removal = emptyTrash({
    db,
    clock,
    seal: createSeal('a key for tests, of 32 characters'),
    resources,
    trash_days: 30,
  })
  await waiting(2)
  await other.query('COMMIT')
  await Promise.all([change, removal])
  await close()
  assert.equal((await ok('GET', `deals/${deal}`)).data.contact_id, next)
  assert.equal((await ok('GET', `deals?contact_id=${next}`)).meta.total, 1)
  assert.equal((await ok('GET', `deals?contact_id=${old}`)).meta.total, 0)
  assert.deepEqual(await stored.rows('SELECT id FROM contacts WHERE id = ?', old), [])
})

test('an erasure leaves no reference behind, also when one of a whole batch is gone by the time that it is its turn', async () => {
  const company = await make('companies', { name: 'Acme' })
  const now = new Date().toISOString()
  await other.query(
    `INSERT INTO contacts (workspace_id, first_name, last_name, company_id, search_text, created_at, updated_at, deleted_at)
     SELECT 1, 'Ana', 'Ruiz', $1, '', $2, $2, $2 FROM generate_series(1, 600)`,
    [company, now],
  )
  await ok('DELETE', `companies/${company}`)
  await other.query('BEGIN')
  await other.query('DELETE FROM contacts WHERE id = (SELECT min(id) FROM contacts WHERE company_id = $1)', [
    company,
  ])
  const erasure = ok('DELETE', `trash/companies/${company}`)
  await waiting(1)
  await other.query('COMMIT')
  await erasure
  const rows = 'SELECT count(*) AS n FROM contacts WHERE company_id = ?'
  assert.deepEqual(await stored.rows(rows, company), [{ n: 0 }])
})

test('a guest whose place another contact gets while the old one is erased keeps it', async () => {
  const old = await make('contacts', { first_name: 'Ana', last_name: 'Old' })
  const next = await make('contacts', { first_name: 'Bo', last_name: 'New' })
  const times = { start_at: '2031-01-06T10:00:00Z', end_at: '2031-01-06T11:00:00Z' }
  const appointment = await make('appointments', { title: 'Demo', ...times, guest_ids: [old] })
  await ok('DELETE', `contacts/${old}`)
  await other.query('BEGIN')
  await other.query('UPDATE appointment_guests SET contact_id = $1 WHERE contact_id = $2', [next, old])
  const erasure = ok('DELETE', `trash/contacts/${old}`)
  await waiting(1)
  await other.query('COMMIT')
  await erasure
  assert.deepEqual((await ok('GET', `appointments/${appointment}`)).data.guest_ids, [next])
})

test('an erasure waits for a claim that is just being made with a text of before, and takes its lease', async () => {
  const { data } = await ok('POST', 'webhooks', { url: 'http://127.0.0.1:9/', events: ['contact.created'] })
  await ok('POST', `webhooks/${data.id}/pause`)
  const contact = await make('contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  await ok('DELETE', `contacts/${contact}`)
  const far = Date.now() + 3600_000
  await other.query('BEGIN')
  await other.query("UPDATE webhook_queue SET claim_id = 'clm_mine', claimed_at_ms = 1, run_at_ms = $1", [
    far,
  ])
  const erasure = ok('DELETE', `trash/contacts/${contact}`)
  await waiting(1)
  await other.query('COMMIT')
  await erasure
  const [claim] = await stored.rows('SELECT claim_id, run_at_ms FROM webhook_queue')
  assert.deepEqual([claim?.claim_id === 'clm_mine', claim?.run_at_ms], [false, far])
})
