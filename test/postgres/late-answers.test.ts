import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { settingsOf } from '../engine.ts'
import { startRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { runRapport } from '../run-rapport.ts'
import { until } from '../webhooks.ts'
import { startProxy } from './proxy.ts'

// A statement that waits for a lock is late, but not lost: its connection works.

/** A change of a contact that waits for a lock of another program. */
async function waitingChange(t: TestContext) {
  const data_dir = scratchFolder(t)
  const { DATABASE_URL = '' } = await settingsOf(data_dir)
  const proxy = await startProxy(t, DATABASE_URL)
  const rapport = await startRapport({ data_dir, env: { DATABASE_URL: proxy.url } })
  t.after(() => rapport.stop())
  const other = new pg.Client({ connectionString: DATABASE_URL })
  await other.connect()
  t.after(() => other.end())
  const contact = await rapport.call('POST', '/api/v1/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const path = `/api/v1/contacts/${contact.body.data.id}`
  await other.query(`BEGIN; SELECT 1 FROM contacts WHERE id = ${contact.body.data.id} FOR UPDATE`)
  const change = rapport.call('PUT', path, { last_name: 'Ruiz Herrera' })
  const count = async (where: string) =>
    (
      await other.query(`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${where}`)
    ).rows[0].n
  await until(
    () => count("wait_event_type = 'Lock'"),
    (n) => n > 0,
  )
  return { rapport, proxy, path, change, release: () => other.query('ROLLBACK'), count }
}

test('a change whose answer is under way while its connection is checked succeeds', async (t) => {
  const { proxy, change, release, count } = await waitingChange(t)
  let is_released = false
  let letAnswersPass = () => {}
  proxy.onArrival(async (near) => {
    near.once('close', () => letAnswersPass())
    if (is_released) return
    is_released = true
    letAnswersPass = proxy.keepAnswers()
    await release()
    await until(() => count("state = 'active'"), 0)
  })
  const { status, text } = await change
  assert.equal(status, 200, text)
  assert.ok(is_released)
})

test('a change survives a wait for a lock while no new connection opens and others get answers', async (t) => {
  const { rapport, proxy, path, change, release } = await waitingChange(t)
  const given_up = Promise.withResolvers<void>()
  proxy.onArrival((near) => new Promise(() => near.resume().once('close', () => given_up.resolve())))
  const answers: number[] = []
  const read = () =>
    rapport.call('GET', path).then(
      ({ status }) => answers.push(status),
      // The service has stopped.
      () => {},
    )
  const reading = setInterval(read, 50)
  t.after(() => clearInterval(reading))
  await given_up.promise
  // Longer than the check waits for answers that are under way.
  await pause(400)
  await release()
  const { status, text } = await change
  assert.equal(status, 200, text)
  assert.ok(answers.includes(200))
})

test('a command survives a wait for a lock while a busy server opens no other connection', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const { DATABASE_URL = '' } = await settingsOf(DATA_DIR)
  const proxy = await startProxy(t, DATABASE_URL)
  const other = new pg.Client({ connectionString: DATABASE_URL })
  await other.connect()
  t.after(() => other.end())
  // A start of the service holds it while it migrates the database.
  await other.query('SELECT pg_advisory_lock(7239051)')
  const waiting =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
  const listed = runRapport(['keys', 'list'], { DATA_DIR, DATABASE_URL: proxy.url })
  await until(async () => (await other.query(waiting)).rowCount, 1)
  proxy.onArrival((near) => new Promise(() => near.resume()))
  // Longer than a request waits.
  await pause(6000)
  await other.query('SELECT pg_advisory_unlock(7239051)')
  const { code, stderr } = await listed
  assert.deepEqual([code, stderr], [0, ''])
})
