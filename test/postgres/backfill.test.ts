import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { type Db, transaction } from '../../src/db/db.ts'
import { type Context, contextOf } from '../../src/events/context.ts'
import { changeCompany, createCompany } from '../../src/resources/companies/operations.ts'
import { openScratch } from '../engine.ts'
import { startRapport } from '../harness.ts'
import { log, register, until } from '../webhooks.ts'

// The write is later than what was there before.
const write_ms = Date.now() + 86_400_000

type Write = (tx: Db, context: Context) => Promise<unknown>

/**
 * Registers a webhook while a write is running, and starts a backfill. The write ends when the backfill waits for it, or
 * has ended. Returns the number of deliveries.
 */
async function backfilledBeside(
  t: TestContext,
  names: string[],
  write: Write,
  since?: string,
): Promise<number> {
  const { call, data_dir, close } = await startRapport()
  t.after(close)
  for (const name of names) assert.equal((await call('POST', '/api/v1/companies', { name })).status, 201)
  const { db, close: disconnect } = await openScratch(data_dir)
  t.after(disconnect)
  const actor = { kind: 'key', id: 'key_test' } as const
  const time = { now: () => write_ms, elapsed: () => write_ms }
  const context = contextOf(time, { workspace_id: 1, actor, request_id: null })
  const [made, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = transaction(db, async (tx) => {
    await write(tx, context)
    made.resolve()
    await commit.promise
  })
  await made.promise
  const hook = await register(call, { url: 'http://127.0.0.1:9/', events: ['company.created'] })
  const path = `/api/v1/webhooks/${hook.id}/backfill`
  const status = async () => (await call('GET', path)).body.data?.status
  const started = call('POST', path, { kinds: ['companies'], ...(since && { since }) })
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
  return (await log(call, `webhook_id=${hook.id}`)).length
}

test('a record whose transaction began before the registration of a webhook is in its backfill', async (t) => {
  const write: Write = (tx, context) => createCompany(tx, context, { name: 'Atlas' }, [])
  assert.equal(await backfilledBeside(t, [], write), 1)
})

test('a running change of an older record is in a backfill of what has changed since then', async (t) => {
  const write: Write = (tx, context) =>
    changeCompany(tx, context, 1, { name: 'Atlas AG' }, { problems: [], expect() {} })
  const since = new Date(write_ms).toISOString()
  assert.equal(await backfilledBeside(t, ['Atlas', 'Borealis'], write, since), 1)
})
