import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { settingsOf } from '../engine.ts'
import { startService } from '../faults/service.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { act, company, register } from '../webhooks.ts'

const backlog = 100_000
// The slow receiver is the clock of this test: a busy machine delays its deliveries, too. One dispatcher has at most 32
// attempts of a slow webhook in flight, and each of them takes 0.5 s. So three times as many begin within one second: at
// its start, in its middle and at its end.
const slow_in_a_second = 96

for (const [roles, what] of [
  [['api,dispatcher'], 'one process'],
  [['api', 'dispatcher', 'dispatcher'], 'two dispatcher processes'],
] as const)
  test(`a backlog of 100,000 deliveries for one slow webhook delays no other by a second (${what})`, async (t) => {
    const [slow, quick] = await Promise.all([startReceiver(), startReceiver()])
    t.after(() => Promise.all([slow.close(), quick.close()]))
    slow.answering = () => ({ delay_ms: 500 })
    const data_dir = scratchFolder(t)
    const dispatchers = Math.max(1, roles.filter((role) => role === 'dispatcher').length)
    const services = []
    let key = ''
    for (const list of roles) {
      const service = await startService(data_dir, { key, words: ['--roles', list] })
      t.after(() => service.end('SIGKILL'))
      services.push(service)
      key = service.key
    }
    const call = services[0]!.call
    const crowded = await register(call, { url: slow.url })
    await company(call)
    await slow.waitFor(1)
    await act(call, crowded.id, 'pause')
    await fill((await settingsOf(data_dir)).DATABASE_URL as string, crowded.id)
    await register(call, { url: quick.url })
    await act(call, crowded.id, 'resume')
    await slow.waitFor(20)
    const overtaking: number[] = []
    for (let n = 1; n <= 12; n++) {
      const before = slow.received.length
      await company(call)
      await quick.waitFor(n)
      overtaking.push(slow.received.length - before)
    }
    t.diagnostic(`slow deliveries before each quick one: ${overtaking}`)
    assert.ok(Math.max(...overtaking) <= slow_in_a_second * dispatchers, String(overtaking))
    assert.ok(slow.received.length < backlog / 2, 'there is a backlog still')
  })

/** As many deliveries of an event that is there, all due. */
async function fill(url: string, webhook_id: string) {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  const made = `FROM generate_series(1, ${backlog}) AS n, events e WHERE e.event = 'company.created'`
  await connection.query(
    `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, event, status, next_attempt_at, created_at)
     SELECT 'dlv_' || lpad(n::text, 20, '0'), 1, $1, e.id, e.event, 'pending', e.occurred_at, e.occurred_at ${made}`,
    [webhook_id],
  )
  await connection.query(
    `INSERT INTO webhook_queue (delivery_id, workspace_id, webhook_id, kind, run_at_ms)
     SELECT 'dlv_' || lpad(n::text, 20, '0'), 1, $1, 'event', n ${made}`,
    [webhook_id],
  )
  await connection.query(
    `INSERT INTO record_counts (workspace_id, name, slot, n) SELECT 1, name, 100, ${backlog}
     FROM unnest(ARRAY['deliveries', 'deliveries.status=pending', 'deliveries.event=company.created', 'deliveries.webhook_id=' || $1]) AS name`,
    [webhook_id],
  )
  await connection.end()
}
