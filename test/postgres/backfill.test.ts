import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { transaction } from '../../src/db/db.ts'
import { contextOf } from '../../src/events/context.ts'
import { createCompany } from '../../src/resources/companies/operations.ts'
import { openScratch } from '../engine.ts'
import { startRapport } from '../harness.ts'
import { log, register, until } from '../webhooks.ts'

test('a record whose transaction began before the registration of a webhook is in its backfill', async (t) => {
  const { call, data_dir, close } = await startRapport()
  t.after(close)
  const { db, clock, close: disconnect } = await openScratch(data_dir)
  t.after(disconnect)
  const actor = { kind: 'key', id: 'key_test' } as const
  const time = { now: clock.now, elapsed: clock.now }
  const context = contextOf(time, { workspace_id: 1, actor, request_id: null })
  const [made, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = transaction(db, async (tx) => {
    await createCompany(tx, context, { name: 'Atlas' }, [])
    made.resolve()
    await commit.promise
  })
  await made.promise
  const hook = await register(call, { url: 'http://127.0.0.1:9/', events: ['company.created'] })
  const path = `/api/v1/webhooks/${hook.id}/backfill`
  const status = async () => (await call('GET', path)).body.data?.status
  const started = call('POST', path, { kinds: ['companies'] })
  const waiting = sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  await until(
    async () => (await waiting.execute(db)).rows.length > 0 || (await status()) === 'succeeded',
    (has_met) => has_met,
  )
  commit.resolve()
  await writing
  assert.equal((await started).status, 202)
  await until(status, (found) => found === 'succeeded')
  assert.equal((await log(call, `webhook_id=${hook.id}`)).length, 1)
})
