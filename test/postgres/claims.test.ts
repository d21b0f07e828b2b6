import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { momentOf } from '../../src/clock.ts'
import { type Db, transaction } from '../../src/db/db.ts'
import { claimDue } from '../../src/webhooks/delivery/claim.ts'
import { openOutbox } from '../outbox.ts'

// An unhandled rejection fails the test. In a service it ends the process.
test('a connection that is lost during a claim fails the claim, and does not end the process', async (t) => {
  const { db, clock, workspace_id, close, webhook, events } = await openOutbox()
  t.after(close)
  await webhook('wh_a')
  await events(3)
  const claim = (tx: Db, claim_id: string) => {
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
