import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { backfillKinds } from '../../src/across/backfills/state.ts'
import { type Db, transaction } from '../../src/db/db.ts'
import { type Context, contextOf } from '../../src/events/context.ts'
import { changeCompany, createCompany } from '../../src/resources/companies/operations.ts'
import { rooms } from '../../src/resources/index.ts'
import type { Sent } from '../../src/resources/operations.ts'
import { newWorkspace } from '../database.ts'
import { openScratch } from '../engine.ts'
import { useRapport } from '../harness.ts'
import { act, type Call, log, register, until } from '../webhooks.ts'

// The write is later than what was there before.
const write_ms = Date.now() + 86_400_000

type Write = (tx: Db, context: Context) => Promise<unknown>
const sent: Sent = { problems: [], expect() {} }

const rapport = useRapport()

/** Begins a write to the newest workspace in another process. `commit` ends it. */
async function beginWrite(t: TestContext, write: Write) {
  const { db, close } = await openScratch(rapport.data_dir)
  const { workspace_id } = await db
    .selectFrom('workspaces')
    .select(({ fn }) => fn.max('id').as('workspace_id'))
    .executeTakeFirstOrThrow()
  const actor = { kind: 'key', id: 'key_test' } as const
  const time = { now: () => write_ms, elapsed: () => write_ms }
  const context = contextOf(time, { workspace_id, actor, request_id: null })
  const [made, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = transaction(db, async (tx) => {
    await write(tx, context)
    made.resolve()
    await ending.promise
  })
  await Promise.race([made.promise, writing])
  const commit = () => {
    ending.resolve()
    return writing
  }
  t.after(commit)
  t.after(close)
  return { db, commit }
}

/**
 * Registers a webhook while a write is running, and starts a backfill. The write ends when the backfill waits for it, or
 * has ended. Returns the number of deliveries.
 */
async function backfilledBeside(
  t: TestContext,
  call: Call,
  write: Write,
  { kind = 'companies', since }: { kind?: string; since?: string } = {},
): Promise<number> {
  const { db, commit } = await beginWrite(t, write)
  const hook = await register(call, { url: 'http://127.0.0.1:9/', events: ['company.created'] })
  const path = `/api/v1/webhooks/${hook.id}/backfill`
  const status = async () => (await call('GET', path)).body.data?.status
  const started = call('POST', path, { kinds: [kind], ...(since && { since }) })
  const waiting = sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  await until(
    async () => (await waiting.execute(db)).rows.length > 0 || (await status()) === 'succeeded',
    (has_met) => has_met,
  )
  await commit()
  assert.equal((await started).status, 202)
  await until(status, (found) => found === 'succeeded')
  return (await log(call, `webhook_id=${hook.id}`)).length
}

test('a record whose transaction began before the registration of a webhook is in its backfill', async (t) => {
  const write: Write = (tx, context) => createCompany(tx, context, { name: 'Atlas' }, [])
  assert.equal(await backfilledBeside(t, await newWorkspace(rapport), write), 1)
})

test('a running change of an older record is in a backfill of what has changed since then', async (t) => {
  const call = await newWorkspace(rapport)
  for (const name of ['Atlas', 'Borealis'])
    assert.equal((await call('POST', '/api/v1/companies', { name })).status, 201)
  const [atlas] = (await call('GET', '/api/v1/companies?sort=name')).body.data
  const write: Write = (tx, context) => changeCompany(tx, context, atlas.id, { name: 'Atlas AG' }, sent)
  const since = new Date(write_ms).toISOString()
  assert.equal(await backfilledBeside(t, call, write, { since }), 1)
})

const new_records: Record<string, object> = {
  contacts: { first_name: 'Ana', last_name: 'Ruiz' },
  companies: { name: 'Atlas' },
  deals: { name: 'Atlas' },
  activities: { subject: 'Atlas' },
  appointments: { title: 'Atlas', start_at: '2026-11-25T10:00:00Z', end_at: '2026-11-25T10:30:00Z' },
}

// The restoration of an activity has no event.
for (const kind of backfillKinds(rooms).keys())
  test(`a record of ${kind} that is being restored is in a backfill that begins meanwhile`, async (t) => {
    const call = await newWorkspace(rapport)
    const { status, text, body } = await call('POST', `/api/v1/${kind}`, new_records[kind])
    assert.equal(status, 201, text)
    const { id } = body.data
    assert.equal((await call('DELETE', `/api/v1/${kind}/${id}`)).status, 200)
    const room = rooms.find(({ resource }) => resource.table === kind)
    const write: Write = (tx, context) => room!.operations!.restore(tx, context, id, sent)
    assert.equal(await backfilledBeside(t, call, write, { kind }), 1)
  })

test('a second start of a running backfill is refused while a write is running', async (t) => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, { url: 'http://127.0.0.1:9/', events: ['company.created'] })
  // So the backfill does not end.
  await act(call, id, 'pause')
  const begin = () => call('POST', `/api/v1/webhooks/${id}/backfill`, { kinds: ['companies'] })
  assert.equal((await begin()).status, 202)
  await beginWrite(t, (tx, context) => createCompany(tx, context, { name: 'Atlas' }, []))
  const { status, body } = await begin()
  assert.deepEqual([status, body.error.reason], [409, 'backfill_running'])
})
