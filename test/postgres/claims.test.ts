import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { momentOf } from '../../src/clock.ts'
import { type Tx, transaction } from '../../src/db/db.ts'
import { claimDue } from '../../src/webhooks/delivery/claim.ts'
import type { Sender } from '../../src/webhooks/delivery/deliver.ts'
import { createDispatcher } from '../../src/webhooks/delivery/dispatcher.ts'
import { updateWebhook } from '../../src/webhooks/registration/queries.ts'
import { openOutbox } from '../outbox.ts'
import { until } from '../webhooks.ts'

// An unhandled rejection fails the test. In a service it ends the process.
test('a connection that is lost during a claim fails the claim, and does not end the process', async (t) => {
  const { db, clock, workspace_id, close, webhook, events } = await openOutbox()
  t.after(close)
  await webhook('wh_a')
  await events(3)
  const claim = (tx: Tx, claim_id: string) => {
    const lease = { claim_id, moment: momentOf(clock), lease_ms: 40_000, fits: () => true, idle: false }
    const webhooks = [{ workspace_id, webhook_id: 'wh_a' }]
    return claimDue(tx, { ...lease, webhooks, limit: () => 10 })
  }
  const lost = transaction(db, async (tx) => {
    const ended = sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(tx)
    await Promise.allSettled([ended, claim(tx, 'one')])
    return claim(tx, 'two')
  })
  await assert.rejects(lost)
  assert.equal((await transaction(db, (tx) => claim(tx, 'three'))).length, 3)
})

test('an outcome is written while another outcome waits for a lock', async (t) => {
  const { database, db, clock, seal, close, webhook, events, deliveries } = await openOutbox()
  t.after(close)
  await webhook('wh_a')
  await webhook('wh_b')
  await events()
  const answers = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() }
  const sent: string[] = []
  const sender: Sender = {
    async send({ url, headers, mayStart }) {
      mayStart?.()
      sent.push(url)
      await answers[url.endsWith('a') ? 'a' : 'b'].promise
      const response = { status: 200, headers: {}, body: '' }
      return { started_at_ms: 0, duration_ms: 1, request: { url, headers }, response, error: null, ok: true }
    },
    async close() {},
  }
  const options = { database, clock, seal, sender, retry_delays: [60], timeout_ms: 10_000 }
  const dispatcher = createDispatcher({ ...options, onError: (error) => t.diagnostic(String(error)) })
  dispatcher.start()
  t.after(() => dispatcher.stop(5000))
  await until(async () => sent.length, 2)
  const statuses = async () => (await deliveries()).map(({ webhook_id, status }) => `${webhook_id} ${status}`)
  await transaction(db, async (tx) => {
    await sql`SELECT 1 FROM webhook_queue WHERE webhook_id = 'wh_a' FOR UPDATE`.execute(tx)
    answers.a.resolve()
    const waiting = sql`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await until(
      async () => (await waiting.execute(db)).rows.length,
      (n) => n > 0,
    )
    answers.b.resolve()
    await until(statuses, (all) => all.includes('wh_b succeeded'))
    assert.ok((await statuses()).includes('wh_a pending'))
  })
  await until(statuses, (all) => all.includes('wh_a succeeded'))
})

test('an event during a change of the subscriptions reaches a webhook that asks for it before and after', async (t) => {
  const { db, workspace_id, close, webhook, events, deliveries } = await openOutbox()
  t.after(close)
  await webhook('wh_a', { events: ['company.*'] })
  let emitted: Promise<unknown> | null = null
  await transaction(db, async (tx) => {
    await updateWebhook(tx, workspace_id, 'wh_a', { events: ['company.created'] })
    let is_done = false
    emitted = events().then(() => {
      is_done = true
    })
    const waiting = sql`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    // It does not wait for the change. If it did, it would find neither the old nor the new subscription.
    await until(
      async () => is_done || (await waiting.execute(db)).rows.length > 0,
      (has_met) => has_met,
    )
  })
  await emitted
  assert.equal((await deliveries()).length, 1)
})
