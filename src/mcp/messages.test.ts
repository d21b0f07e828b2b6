import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messagesTo } from '../../test/assistant.ts'
import { callOf, startRapport, turnableClock, useRapport } from '../../test/harness.ts'
import { makeKey } from '../../test/keys.ts'

const rapport = useRapport()
const call = callOf(rapport)

const ping = { method: 'ping' }
const list = { method: 'tools/list' }
const create = (name: string) => ({
  method: 'tools/call',
  params: { name: 'create_company', arguments: { name } },
})
const companies = async (to = rapport) => (await to.call('GET', '/api/v1/companies')).body.meta.total

async function limited(t: { after(end: () => unknown): void }, per_second: number) {
  const clock = turnableClock()
  const slow = await startRapport({ clock, env: { RATE_LIMIT_PER_SECOND: String(per_second) } })
  t.after(slow.close)
  return { ...slow, clock }
}

test('each message of a batch counts toward the rate limit, and nothing of a batch above it is done', async (t) => {
  const slow = await limited(t, 10)
  const counted = await messagesTo(slow, [ping, create('One'), list, ping])
  assert.deepEqual(
    counted.answers.map(({ id, result }) => [id, result !== undefined]),
    [
      [1, true],
      [2, true],
      [3, true],
      [4, true],
    ],
  )
  assert.equal(counted.headers.get('ratelimit-remaining'), '16')
  const refused = await messagesTo(slow, Array(17).fill(create('Two')))
  assert.equal(refused.status, 429)
  assert.equal(refused.body.error.code, 'rate_limited')
  assert.equal(refused.headers.get('retry-after'), '1')
  slow.clock.advance(2000)
  const never = await messagesTo(slow, Array(21).fill(create('Two')))
  assert.equal(never.status, 429)
  assert.match(never.body.error.message, /at most 20 messages/)
  assert.equal(await companies(slow), 1)
})

test('messages in an array inside a batch are refused: they cannot pass the rate limit', async (t) => {
  const slow = await limited(t, 10)
  const inner = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, ...create('Never') }))
  for (const messages of [[inner], [{ jsonrpc: '2.0', id: 1, ...create('Never') }, inner]]) {
    const { status, body } = await slow.call('POST', '/mcp', messages, {
      accept: 'application/json, text/event-stream',
    })
    assert.deepEqual([status, body.error?.code, body.id], [400, -32600, null])
  }
  assert.equal(await companies(slow), 0)
})

test('a message alone counts once, and a list of tools always has the definitions', async (t) => {
  const slow = await limited(t, 1)
  const definition = { resource: 'contacts', key: 'vat_number', label: 'VAT', type: 'text' }
  assert.equal((await slow.call('POST', '/api/v1/custom-fields', definition)).status, 201)
  const { headers, answers } = await messagesTo(slow, list)
  assert.equal(headers.get('ratelimit-remaining'), '0')
  assert.match(JSON.stringify(answers), /vat_number/)
})

test('the messages of a batch are answered in order, each like a message alone', async () => {
  const before = await companies()
  const { status, answers } = await messagesTo(rapport, [
    create('First'),
    { method: 'notifications/initialized' },
    create(''),
    { method: 'nothing/known' },
    list,
  ])
  assert.equal(status, 200)
  const [made, refused, unknown, listed] = answers
  assert.deepEqual(
    answers.map(({ id }) => id),
    [1, 3, 4, 5],
  )
  assert.equal(made.result.structuredContent.data.name, 'First')
  assert.equal(refused.result.isError, true)
  assert.equal(unknown.error.code, -32601)
  assert.ok(listed.result.tools.length > 40)
  assert.equal(await companies(), before + 1)
  const silent = await messagesTo(rapport, [{ method: 'notifications/initialized' }])
  assert.deepEqual([silent.status, silent.text], [202, ''])
})

test('a batch ends where its answers have 8 MiB: the other messages are not served', async () => {
  const options = Array.from({ length: 200 }, (_, n) => `${n}`.padEnd(75, 'o'))
  for (let n = 0; n < 50; n++) {
    const definition = { resource: 'deals', key: `site_${n}`, label: 'Site', type: 'select', options }
    assert.equal((await call('POST', '/api/v1/custom-fields', definition)).status, 201)
  }
  const before = await companies()
  const read = { method: 'tools/call', params: { name: 'list_custom_fields', arguments: { per_page: 100 } } }
  const { answers, text } = await messagesTo(rapport, [...Array(20).fill(read), create('Never')])
  assert.equal(answers.length, 21)
  const refused = answers.filter(({ error }) => error?.code === -32000)
  assert.ok(refused.length > 5 && refused.at(-1).id === 21)
  assert.ok(text.length < 12 * 1024 * 1024)
  assert.equal(await companies(), before)
})

test('a batch is refused where the revision of the protocol has none', async () => {
  const before = await companies()
  for (const version of ['2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01']) {
    const { status, body } = await messagesTo(rapport, [create('Never')], { 'mcp-protocol-version': version })
    assert.deepEqual([status, body.error.code, body.id], [400, -32600, null], version)
  }
  assert.equal(await companies(), before)
  const { status } = await messagesTo(rapport, [ping], { 'mcp-protocol-version': '2025-03-26' })
  assert.equal(status, 200)
})

test('a batch that is empty, too long, or has an initialize is refused as a whole', async () => {
  const before = await companies()
  const initialize = { method: 'initialize', params: {} }
  for (const messages of [[], Array(101).fill(create('Never')), [create('Never'), initialize]]) {
    const { status, body } = await messagesTo(rapport, messages)
    assert.deepEqual([status, body.error.code, body.id], [400, -32600, null])
  }
  assert.equal(await companies(), before)
})

/** The answer to a body as it is. */
const answerTo = (text: string) =>
  call('POST', '/mcp', text, { accept: 'application/json, text/event-stream' })

test('a body that is not JSON is answered with the parse error of JSON-RPC', async () => {
  for (const text of ['{', '', '{"jsonrpc":"2.0","id":1,"method":"ping"}}', '{"a":\u00a01}', '[1,]']) {
    const { status, body } = await answerTo(text)
    assert.deepEqual([status, body.jsonrpc, body.error.code, body.id], [400, '2.0', -32700, null], text)
    assert.ok(body.error.message.length > 20)
    assert.ok(!('success' in body))
  }
  const huge = await call('POST', '/mcp', JSON.stringify([0, 'x'.repeat(1024 * 1024)]))
  assert.deepEqual([huge.status, huge.body.error.code], [413, 'payload_too_large'])
})

test('a message that is JSON but not JSON-RPC is an invalid request', async () => {
  for (const sent of ['{}', '1', 'null', '"x"', '{"jsonrpc":"1.0","id":1,"method":"ping"}']) {
    const { status, body } = await answerTo(sent)
    assert.deepEqual([status, body.error.code], [400, -32600], sent)
  }
})

test('a request that is refused although its body is JSON is an invalid request', async () => {
  const nested = `${'['.repeat(70)}${']'.repeat(70)}`
  for (const sent of [nested, '{"__proto__":1}', '{"constructor":{"prototype":{}}}']) {
    const { status, body } = await answerTo(sent)
    assert.deepEqual([status, body.jsonrpc, body.error.code, body.id], [400, '2.0', -32600, null], sent)
    assert.ok(body.error.message.length > 20)
  }
})

test('a tool that is unknown, or of another scope, is an invalid parameter', async () => {
  const unknown = { method: 'tools/call', params: { name: 'drop_everything', arguments: {} } }
  const { status, answers } = await messagesTo(rapport, unknown)
  assert.deepEqual([status, answers[0].id, answers[0].error.code], [200, 1, -32602])
  assert.match(answers[0].error.message, /drop_everything/)
  const reader = await makeKey(rapport, { scopes: ['contacts:read'] })
  const hidden = await messagesTo({ ...rapport, call: reader.call }, create('Never'))
  assert.equal(hidden.answers[0].error.code, -32602)
})
