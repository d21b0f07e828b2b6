import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newWorkspace, useStored } from '../../../test/database.ts'
import { dataOf, refused } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { makeKey } from '../../../test/keys.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/activities'
const now = () => new Date(clock.now()).toISOString()

const make = async (body: object = {}) =>
  dataOf(await call('POST', path, { subject: 'Call Ada', ...body }), 201)
const put = (id: number, body: unknown) => call('PUT', `${path}/${id}`, body)
const read = async (id: number) => (await call('GET', `${path}/${id}`)).body.data
const names = async (id: number) => (await stored.events('activity', id)).map(({ event }) => event)

describe('who may', () => {
  test("another workspace's activity answers like one that never was", async () => {
    const { id } = await make()
    const other = await newWorkspace(rapport)
    const before = await call('GET', `${path}/${id}`)
    for (const [method, below] of [
      ['GET', ''],
      ['PUT', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/restore'],
      ['POST', '/complete'],
      ['POST', '/reopen'],
    ] as const) {
      const ask = (named: number) =>
        other(method, `${path}/${named}${below}`, method === 'GET' ? undefined : {})
      const [foreign, never] = [await ask(id), await ask(999_999)]
      const told = refused(foreign, 404, 'not_found')
      assert.equal(told.message, refused(never, 404, 'not_found').message)
    }
    assert.equal((await call('GET', `${path}/${id}`)).text, before.text)
    assert.deepEqual(await names(id), ['activity.created'])
  })

  test('reading needs activities:read, everything else activities:write', async () => {
    const { id } = await make()
    const reader = await makeKey(rapport, { scopes: ['activities:read'] })
    const writer = await makeKey(rapport, { scopes: ['activities:write'] })
    const reads = [path, `${path}/${id}`]
    const writes = [
      ['POST', path, { subject: 'A' }],
      ['PUT', `${path}/${id}`, { subject: 'B' }],
      ['POST', `${path}/${id}/complete`, {}],
      ['POST', `${path}/${id}/reopen`, {}],
      ['DELETE', `${path}/${id}`, undefined],
      ['POST', `${path}/${id}/restore`, {}],
    ] as const
    for (const url of reads) {
      assert.equal((await reader.call('GET', url)).status, 200)
      refused(await writer.call('GET', url), 403, 'forbidden')
    }
    for (const [method, url, body] of writes) {
      refused(await reader.call(method, url, body), 403, 'forbidden')
      assert.ok((await writer.call(method, url, body)).status < 300)
    }
  })
})

describe('conditions and repetitions', () => {
  test('every write obeys If-Match, and If-None-Match answers 304', async () => {
    const { id } = await make()
    const tag = async () => (await call('GET', `${path}/${id}`)).headers.get('etag') ?? ''
    const first = await tag()
    assert.equal((await call('GET', `${path}/${id}`, undefined, { 'if-none-match': first })).status, 304)
    await put(id, { subject: 'Changed' })
    const shown = await read(id)
    const writes = [
      ['PUT', `${path}/${id}`, { subject: 'Lost' }],
      ['POST', `${path}/${id}/complete`, { outcome: 'Lost' }],
      ['POST', `${path}/${id}/reopen`, {}],
      ['DELETE', `${path}/${id}`, undefined],
    ] as const
    for (const [method, url, body] of writes)
      refused(await call(method, url, body, { 'if-match': first }), 412, 'precondition_failed')
    assert.deepEqual(await read(id), shown)
    for (const [method, url, body] of writes) {
      clock.advance(1)
      const reply = await call(method, url, body, { 'if-match': await tag() })
      assert.equal(reply.status, 200, reply.text)
      if (method !== 'DELETE') assert.equal(reply.headers.get('etag'), await tag())
    }
  })

  test('Idempotency-Key: the same POST again gets the answer of then, and does nothing', async () => {
    const headers = { 'idempotency-key': 'create' }
    const body = { subject: 'Once', completed_at: now() }
    const first = await call('POST', path, body, headers)
    const again = await call('POST', path, body, headers)
    assert.deepEqual([again.status, again.text], [201, first.text])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    const { id } = first.body.data
    assert.deepEqual(await names(id), ['activity.created', 'activity.completed'])

    await call('POST', `${path}/${id}/reopen`)
    const key = { 'idempotency-key': 'complete' }
    const completed = await call('POST', `${path}/${id}/complete`, { outcome: 'Done' }, key)
    await call('POST', `${path}/${id}/reopen`)
    const replayed = await call('POST', `${path}/${id}/complete`, { outcome: 'Done' }, key)
    assert.deepEqual([replayed.status, replayed.text], [200, completed.text])
    assert.equal((await read(id)).completed_at, null)
    refused(await call('POST', `${path}/${id}/complete`, { outcome: 'Other' }, key), 409, 'conflict')
  })
})
