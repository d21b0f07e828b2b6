import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace, readStored } from '../database.ts'
import { fieldCodes } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { startReceiver, useReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { act, attempted, type Call, company, onlyDelivery, register, until, webhook } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

const path = '/api/v1/webhooks'
const put = (call: Call, id: string, body: object) => call('PUT', `${path}/${id}`, body)

/** The request that a webhook got for a new company. */
async function sentTo(call: Call, id: string) {
  const before = receiver.received.length
  await company(call)
  const found = await receiver.waitFor((all) => all.slice(before).some(({ body }) => body.includes(id)))
  return found.slice(before).find(({ body }) => body.includes(id))
}

test('own headers are sent with every delivery and ping, and only their names are shown', async () => {
  const call = await newWorkspace(rapport)
  const headers = {
    Authorization: 'Bearer s3cret-token-of-ours',
    'X-Tenant': 'acme; "a b"',
    'User-Agent': 'Acme/1',
  }
  const { id, secret } = await register(call, { url: receiver.url, headers })
  const masked = { Authorization: '***', 'X-Tenant': '***', 'User-Agent': '***' }
  const shown = await webhook(call, id)
  assert.deepEqual({ ...shown, headers: masked }, shown)
  const request = await sentTo(call, id)
  assert.equal(request?.headers.authorization, headers.Authorization)
  assert.equal(request?.headers['x-tenant'], headers['X-Tenant'])
  assert.equal(request?.headers['user-agent'], 'Acme/1')
  assert.equal(request?.headers['accept-encoding'], 'identity')
  await receiver.verify(secret, request && [request])
  const { attempts } = await attempted(call, (await onlyDelivery(call, id)).id)
  const logged = attempts[0]?.request.headers ?? {}
  assert.deepEqual({ ...logged, ...masked }, logged)
  assert.equal('user-agent' in logged, false)
  const ping = await act(call, id, 'test')
  assert.equal(ping.attempts[0].request.headers.Authorization, '***')
  assert.equal(receiver.received.at(-1)?.headers.authorization, headers.Authorization)
})

test('the values are nowhere in what is stored, and in no answer and no audit entry', async () => {
  const call = await newWorkspace(rapport)
  const [first, second] = ['a-value-that-nobody-may-read', 'another-value-that-is-secret']
  const { id } = await register(call, { url: receiver.url, headers: { 'X-Key': first } })
  await put(call, id, { headers: { 'X-Key': second } })
  assert.equal((await sentTo(call, id))?.headers['x-key'], second)
  await until(() => onlyDelivery(call, id), { status: 'succeeded' })
  const stored = await readStored(rapport.data_dir)
  const bytes = await stored.contents()
  await stored.close()
  const audit = await call('GET', `/api/v1/audit-log?kind=webhooks`)
  for (const value of [first, second]) {
    assert.ok(!bytes.includes(value))
    assert.ok(!audit.text.includes(value))
  }
  const [entry] = audit.body.data
  const hidden = { headers: { 'X-Key': '***' } }
  assert.deepEqual([entry.action, entry.before, entry.after], ['updated', hidden, hidden])
})

test('*** keeps a value, another name leaves, and the same value again changes nothing', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, { url: receiver.url, headers: { 'X-A': 'one', 'X-B': 'two' } })
  const shown = await webhook(call, id)
  assert.equal((await put(call, id, shown)).status, 200)
  await put(call, id, { headers: { 'x-a': '***', 'X-C': 'three' } })
  const { headers } = (await sentTo(call, id)) ?? { headers: {} as Record<string, string> }
  assert.deepEqual([headers['x-a'], headers['x-b'], headers['x-c']], ['one', undefined, 'three'])
  const entries = async () => (await call('GET', '/api/v1/audit-log?kind=webhooks')).body.meta.total
  const before = await entries()
  await put(call, id, { headers: { 'x-a': 'one', 'X-C': '***' } })
  assert.equal(await entries(), before)
  for (const none of [{}, null]) {
    assert.deepEqual((await put(call, id, { headers: none })).body.data.headers, {})
  }
  assert.equal((await sentTo(call, id))?.headers['x-a'], undefined)
})

test('names and values that are no header, or not yours to set, are 422', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await register(call, { url: receiver.url, headers: { 'X-Kept': 'value' } })
  const wrong: [unknown, string][] = [
    ...[
      'Host',
      'content-type',
      'Content-Length',
      'X-Service-Event',
      'WEBHOOK-ID',
      'Connection',
      'te',
      'Transfer-Encoding',
      'Upgrade',
      'Keep-Alive',
      'Proxy-Authorization',
      'Trailer',
      'Expect',
    ].map((name): [unknown, string] => [{ [name]: 'x' }, `headers.${name} reserved`]),
    ...['X Y', 'X:', 'Ü', 'X\n', '', 'x'.repeat(101), '(x)'].map((name): [unknown, string] => [
      { [name]: 'x' },
      `headers.${name.slice(0, 100)} invalid_format`,
    ]),
    ...['', ' x', 'x ', 'a\r\nX-Evil: 1', 'ü', '\x7f', 'a\nb'].map((value): [unknown, string] => [
      { 'X-A': value },
      'headers.X-A invalid_format',
    ]),
    [{ 'X-A': '***' }, 'headers.X-A not_found'],
    [{ 'X-A': 'x', 'x-a': 'y' }, 'headers.x-a duplicate'],
    [{ 'X-A': 5 }, 'headers.X-A invalid_type'],
    [{ 'X-A': 'x'.repeat(4097) }, 'headers.X-A too_long'],
    [{ 'X-A': 'x'.repeat(4096), 'X-B': 'x'.repeat(4096) }, 'headers too_long'],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, 'x'])), 'headers too_many'],
    ['X-A: x', 'headers invalid_type'],
    [['X-A'], 'headers invalid_type'],
  ]
  for (const [headers, expected] of wrong)
    for (const [method, address] of [
      ['POST', path],
      ['PUT', `${path}/${id}`],
    ] as const) {
      const reply = await call(method, address, { url: receiver.url, events: ['deal.won'], headers })
      assert.deepEqual(fieldCodes(reply), [expected], `${method} ${JSON.stringify(headers)}`)
    }
  assert.deepEqual((await webhook(call, id)).headers, { 'X-Kept': '***' })
})

test('a url of another origin gets no stored value of a header: they are sent again, or removed', async (t) => {
  const call = await newWorkspace(rapport)
  const stranger = await useFor(t, startReceiver())
  const headers = { Authorization: 'Bearer t0ken', 'X-Tenant': 'acme' }
  const { id } = await register(call, { url: `${receiver.url}/old`, headers })
  const refused = async (body: object, expected: string[]) => {
    const reply = await put(call, id, body)
    assert.deepEqual(fieldCodes(reply), expected, JSON.stringify(body))
    assert.match(reply.body.error.fields[0].message, /another origin/)
  }
  const { url } = stranger
  await refused({ url }, ['headers other_origin'])
  await refused({ url, headers: { authorization: '***' } }, ['headers.authorization other_origin'])
  await refused({ url, headers: { 'X-Tenant': 'acme', Authorization: '***' } }, [
    'headers.Authorization other_origin',
  ])
  // A GET whose answer is sent back with another url.
  await refused({ ...(await webhook(call, id)), url }, [
    'headers.Authorization other_origin',
    'headers.X-Tenant other_origin',
  ])
  assert.equal((await webhook(call, id)).url, `${receiver.url}/old`)

  assert.equal((await put(call, id, { url: `${receiver.url}/new` })).status, 200)
  assert.equal((await sentTo(call, id))?.headers.authorization, 'Bearer t0ken')
  assert.equal((await put(call, id, { url, headers: { 'X-Tenant': 'other' } })).status, 200)
  await act(call, id, 'test')
  const sent = stranger.received.at(-1)?.headers
  assert.deepEqual([sent?.authorization, sent?.['x-tenant']], [undefined, 'other'])
  for (const none of [{}, null]) {
    assert.equal((await put(call, id, { url: receiver.url, headers: none })).status, 200)
    assert.equal((await put(call, id, { url })).status, 200)
  }
})
