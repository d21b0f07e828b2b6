import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { backfillKinds } from '../../src/across/backfills/state.ts'
import { changeCompany, createCompany } from '../../src/resources/companies/operations.ts'
import { rooms } from '../../src/resources/index.ts'
import type { Sent } from '../../src/resources/writing/operations.ts'
import { newWorkspace } from '../database.ts'
import { useRapport } from '../harness.ts'
import { before } from '../use.ts'
import { act, type Call, log, register, until } from '../webhooks.ts'
import { beginWrite, type Write, write_ms } from './running-write.ts'

const rapport = useRapport()
let others: Call
before(async () => {
  others = await newWorkspace(rapport)
})

const sent: Sent = { problems: [], expect() {} }
const register_at = { url: 'http://127.0.0.1:9/', events: ['company.created'] }
const pathOf = (id: string) => `/api/v1/webhooks/${id}/backfill`
const statusOf = async (call: Call, id: string) => (await call('GET', pathOf(id))).body.data?.status

async function begin(call: Call, kind: string, since?: string): Promise<string> {
  const { id } = await register(call, register_at)
  const { status, text } = await call('POST', pathOf(id), { kinds: [kind], ...(since && { since }) })
  assert.equal(status, 202, text)
  return id
}
const end = (call: Call, id: string) => until(() => statusOf(call, id), 'succeeded')

/** Starts a backfill of a new webhook while a write is running. Returns the number of its deliveries. */
async function backfilledBeside(
  t: TestContext,
  call: Call,
  write: Write,
  { kind = 'companies', since }: { kind?: string; since?: string } = {},
): Promise<number> {
  const commit = await beginWrite(t, rapport, write)
  const id = await begin(call, kind, since)
  // Each backfill has its turn, so this one would have ended before a later one.
  await end(others, await begin(others, 'companies'))
  assert.equal(await statusOf(call, id), 'running')
  await commit()
  await end(call, id)
  return (await log(call, `webhook_id=${id}`)).length
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

test('a backfill that waits for a long write holds up no other writes', async (t) => {
  const call = await newWorkspace(rapport)
  const commit = await beginWrite(t, rapport, (tx, context) =>
    createCompany(tx, context, { name: 'Atlas' }, []),
  )
  const id = await begin(call, 'companies')
  const other = await call('POST', '/api/v1/contacts', new_records.contacts)
  assert.equal(other.status, 201, other.text)
  assert.equal(await statusOf(call, id), 'running')
  await commit()
  await end(call, id)
})

test('a second start of a running backfill is refused while a write is running', async (t) => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, register_at)
  // So the backfill does not end.
  await act(call, id, 'pause')
  const start = () => call('POST', pathOf(id), { kinds: ['companies'] })
  assert.equal((await start()).status, 202)
  await beginWrite(t, rapport, (tx, context) => createCompany(tx, context, { name: 'Atlas' }, []))
  const { status, body } = await start()
  assert.deepEqual([status, body.error.reason], [409, 'backfill_running'])
})
