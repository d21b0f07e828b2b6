import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { callOf, useRapport } from '../harness.ts'
import { makeKey } from '../keys.ts'
import { until } from '../webhooks.ts'

const rapport = useRapport()
const call = callOf(rapport)

type Key = Awaited<ReturnType<typeof makeKey>>

/** Revokes a key, and waits until the service refuses it. */
async function revoke({ id, call: mine }: Key) {
  assert.equal((await call('POST', `/api/v1/keys/${id}/revoke`)).status, 200)
  await until(() => mine('GET', '/api/v1/contacts'), { status: 401 })
}

/** Waits until a second has passed: an access is remembered for less. */
const passed = (begun_ms: number) =>
  until(
    async () => performance.now() - begun_ms,
    (passed_ms) => passed_ms > 1000,
  )

/** Sends a body in two parts, and works between them. */
async function inParts(
  path: string,
  { token }: Key,
  type: string,
  [first, last]: [string, string],
  work: () => Promise<unknown>,
) {
  const sent = request(`${rapport.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type, 'transfer-encoding': 'chunked' },
  })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  // An answer before the last part is an answer, too.
  sent.on('error', () => {})
  await new Promise<void>((written) => sent.write(first, () => written()))
  await work()
  sent.end(last)
  const [answer] = await answered
  return { status: answer.statusCode, body: JSON.parse(await text(answer)) }
}

describe('a key that is revoked meanwhile', () => {
  const json = 'application/json'
  const requests: [string, string, [string, string]][] = [
    ['/api/v1/contacts', json, ['{"first_name":"Late",', '"last_name":"Caller"}']],
    [
      '/api/v1/contacts/batch',
      json,
      ['{"items":[', '{"op":"create","data":{"first_name":"Late","last_name":"Caller"}}]}'],
    ],
    ['/api/v1/imports?resource=contacts', 'text/csv', ['first_name,last_name\nLate,', 'Caller\n']],
    ['/mcp', json, ['{"jsonrpc":"2.0","id":1,', '"method":"tools/list"}']],
  ]
  for (const [path, type, parts] of requests)
    test(`writes nothing by the body that it is still sending to ${path}`, async () => {
      const key = await makeKey(rapport)
      const { status, body } = await inParts(path, key, type, parts, () => revoke(key))
      assert.deepEqual([status, body.error?.code], [401, 'unauthorized'])
      const imports = (await call('GET', '/api/v1/imports')).body.data
      const contacts = (await call('GET', '/api/v1/contacts?search=late')).body.data
      assert.deepEqual([imports, contacts], [[], []])
    })

  test('says nothing of a key that is valid, however slowly it sends', async () => {
    const key = await makeKey(rapport)
    const parts: [string, string] = ['{"first_name":"Slow",', '"last_name":"Caller"}']
    const { status } = await inParts('/api/v1/contacts', key, json, parts, () => passed(performance.now()))
    assert.equal(status, 201)
  })

  for (const path of ['/api/v1/companies/export?format=ndjson', '/api/v1/workspace/export'])
    test(`gets no further part of ${path}`, async () => {
      // More than the buffers of the sockets hold, also compressed.
      const random = () => randomBytes(1200).toString('base64')
      const item = () => ({ op: 'create', data: { name: 'Acme', custom_fields: { text: random() } } })
      for (let n = 0; n < 8; n++) {
        const items = Array.from({ length: 1000 }, item)
        assert.equal((await call('POST', '/api/v1/companies/batch', { items })).status, 200)
      }
      const key = await makeKey(rapport)
      const headers = { authorization: `Bearer ${key.token}` }
      const [answer] = (await once(get(`${rapport.url}${path}`, { headers }), 'response')) as [
        IncomingMessage,
      ]
      const begun = performance.now()
      assert.equal(answer.statusCode, 200)
      await revoke(key)
      await passed(begun)
      await assert.rejects(text(answer), /aborted/)
    })
})
