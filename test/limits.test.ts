// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertKey } from '../src/access/keys/keys.ts'
import { systemClock } from '../src/clock.ts'
import { readConfig } from '../src/config.ts'
import { type Tx, transaction } from '../src/db/db.ts'
import { newId } from '../src/db/ids.ts'
import { command_line, contextOf } from '../src/events/context.ts'
import { cpuTime } from './calm-time.ts'
import { newWorkspace } from './database.ts'
import { dataOf, refused } from './envelope.ts'
import { type Rapport, startRapport, useRapport } from './harness.ts'
import { beside } from './keys.ts'
import { setUp } from './people.ts'
import { startReceiver } from './receiver.ts'
import { unlessBusy } from './webhooks.ts'

// How many there may be of what costs others something: each limit is exact, also when many come at once.

const rapport = useRapport()

const api = '/api/v1'
type Call = Rapport['call']
type Reply = Awaited<ReturnType<Call>>

const make = async (call: Call, path: string, body: object) =>
  dataOf(await unlessBusy(() => call('POST', api + path, body)), 201)

/** Sends the same request 50 times at once. Exactly one succeeds, and the others get an error with the reason. */
async function onlyOne(attempt: (n: number) => Promise<Reply>, limit: RegExp) {
  const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => unlessBusy(() => attempt(n))))
  const passed = replies.filter((reply) => reply.status === 201)
  for (const reply of replies)
    if (reply.status !== 201) assert.match(refused(reply, 409, 'conflict').message, limit)
  assert.equal(passed.length, 1)
}

test('a workspace has at most 100 webhooks, exactly, also when 50 are registered at once at 99', async () => {
  const call = await newWorkspace(rapport)
  const body = { url: 'http://127.0.0.1:9/hook', events: ['deal.won'] }
  for (let n = 0; n < 99; n++) await make(call, '/webhooks', body)
  await onlyOne(() => call('POST', `${api}/webhooks`, body), /at most 100 webhooks \(MAX_WEBHOOKS\)/)
  const { data, meta } = (await call('GET', `${api}/webhooks`)).body
  assert.equal(meta.total, 100)
  assert.equal((await call('DELETE', `${api}/webhooks/${data[0].id}`)).status, 200)
  await make(call, '/webhooks', body)
  // Of another workspace none is counted.
  await make(rapport.call, '/webhooks', body)
})

test('MAX_WEBHOOKS sets the limit of webhooks', async (t) => {
  const small = await startRapport({ env: { MAX_WEBHOOKS: '1' } })
  t.after(() => small.close())
  const body = { url: 'http://127.0.0.1:9/hook', events: ['deal.won'] }
  await make(small.call, '/webhooks', body)
  assert.match(
    refused(await small.call('POST', `${api}/webhooks`, body), 409, 'conflict').message,
    /at most 1 webhooks/,
  )
  for (const value of ['0', '10001', 'many']) assert.throws(() => readConfig({ MAX_WEBHOOKS: value }))
})

test('a workspace has at most 1,000 live keys, exactly, also when 50 are made at once at 999', async () => {
  const call = await newWorkspace(rapport)
  const { id } = (await call('GET', `${api}/workspace`)).body.data
  const context = contextOf(systemClock, { workspace_id: id, actor: command_line, request_id: null })
  const key = { name: 'One of very many', scopes: ['contacts:read'], expires_at: null }
  const ended = { ...key, expires_at: '2020-01-01T00:00:00.000Z' }
  await beside(rapport.data_dir, async (db) => {
    await transaction(db, async (tx) => {
      await insertKey(tx, context, ended)
      for (let n = 0; n < 998; n++) await insertRow(tx, id, n)
    })
  })
  await onlyOne(() => call('POST', `${api}/keys`, key), /at most 1000 live API keys/)
  const { data } = (await call('GET', `${api}/keys?live=true&per_page=1`)).body
  assert.equal((await call('POST', `${api}/keys/${data[0].id}/revoke`)).status, 200)
  await make(call, '/keys', key)
})

// A thousand by the API would be a thousand fsyncs.
async function insertRow(tx: Tx, workspace_id: number, n: number) {
  const row = { id: newId('key'), workspace_id, name: 'A', hash: `hash ${workspace_id} ${n}`, scopes: '[]' }
  const times = { created_at: '2026-01-01T00:00:00.000Z', expires_at: null, last_used_at: null }
  await tx
    .insertInto('api_keys')
    .values({ ...row, ...times, revoked_at: null, made_by: null })
    .execute()
}

test('a workspace has at most 100 booking pages, exactly; a restore counts, too', async () => {
  const call = await newWorkspace(rapport)
  const page = () => ({ slug: `limited-${++slugs}`, title: 'Demo', time_zone: 'Europe/Berlin' })
  let slugs = 0
  const gone: number[] = []
  for (let n = 0; n < 5; n++) gone.push((await make(call, '/booking-pages', page())).id)
  for (const id of gone) assert.equal((await call('DELETE', `${api}/booking-pages/${id}`)).status, 200)
  for (let n = 0; n < 99; n++) await make(call, '/booking-pages', page())
  // Some of them restore a page, each another one.
  async function addOne(n: number) {
    const id = gone[n / 10]
    if (id === undefined) return call('POST', `${api}/booking-pages`, page())
    const reply = await call('POST', `${api}/booking-pages/${id}/restore`)
    return { ...reply, status: reply.status === 200 ? 201 : reply.status }
  }
  await onlyOne(addOne, /at most 100 booking pages/)
  assert.equal((await call('GET', `${api}/booking-pages`)).body.meta.total, 100)
  const [one] = (await call('GET', `${api}/booking-pages`)).body.data
  assert.equal((await call('POST', `${api}/booking-pages/${one.id}/restore`)).status, 200)
  assert.equal((await call('DELETE', `${api}/booking-pages/${one.id}`)).status, 200)
  await make(call, '/booking-pages', page())
  refused(await call('POST', `${api}/booking-pages/${one.id}/restore`), 409, 'conflict')
})

test('a contact has at most 1,000 notes, exactly; a restore counts, too', async () => {
  const call = await newWorkspace(rapport)
  const contact = await make(call, '/contacts', { first_name: 'Ada', last_name: 'Lovelace' })
  const path = `/contacts/${contact.id}/notes`
  const first = await make(call, path, { body: 'First' })
  assert.equal((await call('DELETE', `${api}${path}/${first.id}`)).status, 200)
  for (let n = 0; n < 999; n += 27)
    await Promise.all(Array.from({ length: 27 }, () => make(call, path, { body: 'A note' })))
  await onlyOne(() => call('POST', api + path, { body: 'The last' }), /at most 1000 notes/)
  refused(await call('POST', `${api}${path}/${first.id}/restore`), 409, 'conflict')
  assert.equal((await call('GET', api + path)).body.meta.total, 1000)
})

test('a person owns at most 100 workspaces', async (t) => {
  const own = await startRapport()
  t.after(() => own.close())
  const ada = await setUp(own)
  for (let n = 1; n < 100; n++) assert.equal((await ada('POST', '/workspaces', { name: `${n}` })).status, 201)
  refused(await ada('POST', '/workspaces', { name: 'One more' }), 409, 'conflict')
})

test('a contact with 100 webhooks that listen costs one write of a few statements, and reaches all of them', async () => {
  const call = await newWorkspace(rapport)
  const receiver = await startReceiver()
  const create = () => make(call, '/contacts', { first_name: 'Ada', last_name: 'Lovelace' })
  const timed = async () => {
    const times: number[] = []
    for (let n = 0; n < 15; n++) {
      times.push(await cpuTime(create))
    }
    return times.sort((a, b) => a - b)[7] as number
  }
  const alone_ms = await timed()
  for (let n = 0; n < 100; n++)
    await make(call, '/webhooks', { url: receiver.url, events: ['contact.created'] })
  const [{ id: any }] = (await call('GET', `${api}/webhooks?per_page=1`)).body.data
  const { data } = (await call('GET', `${api}/webhooks?per_page=100`)).body
  for (const { id } of data) await call('POST', `${api}/webhooks/${id}/pause`, {})
  const with_100_ms = await timed()
  console.log(`CPU of a contact: ${alone_ms.toFixed(1)} ms, with 100 webhooks ${with_100_ms.toFixed(1)} ms`)
  // A busy machine slows both.
  assert.ok(with_100_ms < Math.max(50, 8 * alone_ms), `${with_100_ms} ms, and ${alone_ms} ms with none`)
  await call('POST', `${api}/webhooks/${any}/resume`, {})
  await receiver.waitFor(15)
  await receiver.close()
})
