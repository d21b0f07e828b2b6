import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { catalogue } from '../../src/app.ts'
import { cpuTime } from '../calm-time.ts'
import { newWorkspace, readStored } from '../database.ts'
import { fieldCodes } from '../envelope.ts'
import { type Reply, startRapport, useRapport } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
import { act, type Call, company, log, register, until, webhook } from '../webhooks.ts'

const receiver = useReceiver()
const rapport = useRapport()

const path = '/api/v1/webhooks'
const url = 'http://127.0.0.1:9/hook'

async function refused(call: Call, body: object, fields: string[]): Promise<Reply> {
  const reply = await call('POST', path, { url, events: ['company.created'], ...body })
  assert.deepEqual(fieldCodes(reply), fields, JSON.stringify(body))
  return reply
}

describe('registration', () => {
  test('a 201 is the webhook as GET shows it, its options included, and the secret', async () => {
    const options = {
      retry_delays: [10, 60],
      timeout_ms: 2000,
      max_per_second: 5,
      headers: { 'X-Tenant': 'acme' },
      conditions: [{ field: 'data.name', op: 'ne', value: 'Acme' }],
      format: 'slack',
      ordered: true,
    }
    for (const sent of [{}, options]) {
      const body = { name: ' Billing ', url, events: ['deal.won', 'company.created'], ...sent }
      const reply = await rapport.call('POST', path, body)
      assert.equal(reply.status, 201, reply.text)
      const { secret, ...rest } = reply.body.data
      const got = await rapport.call('GET', `${path}/${rest.id}`)
      assert.deepEqual(rest, got.body.data)
      assert.equal(rest.name, 'Billing')
      assert.deepEqual(rest.headers, 'headers' in sent ? { 'X-Tenant': '***' } : {})
      assert.match(rest.id, /^wh_[0-9a-f]{32}$/)
      assert.ok(Math.abs(Date.parse(rest.created_at) - Date.now()) < 5000)
      const [, base64 = ''] = /^whsec_(.+)$/.exec(secret) ?? []
      assert.equal(Buffer.from(base64, 'base64').length, 32)
      assert.equal(Buffer.from(base64, 'base64').toString('base64'), base64)
      assert.equal(reply.headers.get('location'), `${path}/${rest.id}`)
      assert.equal(reply.headers.get('etag'), got.headers.get('etag'))
    }
  })

  test('GET shows a webhook without its secret', async () => {
    const { id, created_at } = await register(rapport.call, { url })
    assert.deepEqual(await webhook(rapport.call, id), {
      id,
      name: null,
      url,
      events: ['company.created'],
      status: 'active',
      status_reason: null,
      rotation_ends_at: null,
      created_at,
      retry_delays: null,
      timeout_ms: null,
      max_per_second: null,
      headers: {},
      conditions: [],
      format: 'envelope',
      ordered: false,
    })
  })

  test('a secret is shown when it is made and nowhere else: no answer, no log, no file has it', async () => {
    const call = await newWorkspace(rapport)
    const given = 'my very own secret: 42'
    const one = await register(call, { url: receiver.url })
    const two = await register(call, { url: receiver.url, secret: given })
    assert.equal(two.secret, given)
    const { secret: rotated } = await act(call, two.id, 'rotate-secret')
    await company(call)
    await until(
      () => log(call, 'status=succeeded'),
      (all) => all.length === 2,
    )
    const { id: ping } = await act(call, one.id, 'test')
    const [delivery] = await log(call)
    const answers = [
      await call('GET', path),
      ...(await Promise.all([one, two].map(({ id }) => call('GET', `${path}/${id}`)))),
      await call('PUT', `${path}/${one.id}`, { name: 'Renamed' }),
      await call('PATCH', `${path}/${one.id}`, { name: 'Renamed again' }),
      await call('POST', `${path}/${one.id}/pause`),
      await call('POST', `${path}/${one.id}/resume`),
      await call('GET', '/api/v1/deliveries'),
      await call('GET', `/api/v1/deliveries/${delivery?.id}`),
      await call('GET', `/api/v1/deliveries/${ping}`),
      await call('POST', `/api/v1/deliveries/${ping}/resend`),
    ]
    for (const { status, text } of answers) {
      assert.equal(status, 200, text)
      assert.ok(!/secret|whsec/.test(text), text)
    }
    const stored = await readStored(rapport.data_dir)
    const bytes = await stored.contents()
    await stored.close()
    assert.ok(bytes.includes(one.id))
    for (const secret of [one.secret, given, rotated])
      for (const form of [secret, secret.replace('whsec_', '')])
        assert.ok(!bytes.includes(form), 'a secret can be read')
  })

  test('the same Idempotency-Key registers one webhook and gives the same answer, secret included', async () => {
    const call = await newWorkspace(rapport)
    const headers = { 'idempotency-key': 'register-once' }
    const body = { url, events: ['company.created'] }
    const replies = await Promise.all(Array.from({ length: 5 }, () => call('POST', path, body, headers)))
    for (const reply of replies) assert.equal(reply.text, replies[0]?.text)
    assert.equal(replies.filter((reply) => reply.headers.get('idempotency-replayed') === 'true').length, 4)
    assert.equal((await call('GET', path)).body.meta.total, 1)
  })

  test('a given secret has 16 to 255 printable characters, and base64 after whsec_', async () => {
    for (const secret of ['x'.repeat(16), 'x'.repeat(255), ' ~16 characters~', 'whsec_MTIzNDU2Nzg5MGFi'])
      assert.equal((await register(rapport.call, { url, secret })).secret, secret)
    assert.match((await register(rapport.call, { url, secret: null })).secret, /^whsec_/)
    const bad = [
      '',
      'x'.repeat(15),
      'x'.repeat(256),
      'sixteen chars \n..',
      'sixteen chars é..',
      'whsec_no base64!!!',
    ]
    for (const secret of bad) await refused(rapport.call, { secret }, ['secret invalid_format'])
    await refused(rapport.call, { secret: 1234567890123456 }, ['secret invalid_type'])
  })

  test('every event of the catalogue can be asked for; an unknown one is refused with all their names', async () => {
    const events = catalogue.map(({ name }) => name)
    assert.deepEqual((await register(rapport.call, { url, events })).events, events)
    for (const unknown of ['contact.create', 'Deal.won', 'deals.*', 'deal.w*', '**', 'ping', '']) {
      const reply = await refused(rapport.call, { events: ['deal.won', unknown] }, ['events.1 unknown_value'])
      for (const name of events) assert.ok(reply.body.error.fields[0].message.includes(name), name)
    }
    await refused(rapport.call, { events: ['deal.won', 5] }, ['events.1 invalid_type'])
  })

  test('events are at least one, and what stands in the list twice counts once', async () => {
    const events = ['deal.won', 'company.created', 'deal.won', ' company.created ']
    const { id } = await register(rapport.call, { url, events })
    assert.deepEqual((await webhook(rapport.call, id)).events, ['deal.won', 'company.created'])
    const [first = '', ...others] = catalogue.map(({ name }) => name)
    await register(rapport.call, { url, events: [first, ...others, ...others] })
    const more = [first, ...others, 'no.such']
    await refused(rapport.call, { events: more }, [
      'events too_many',
      `events.${more.length - 1} unknown_value`,
    ])
    await refused(rapport.call, { events: [] }, ['events too_few'])
    await refused(rapport.call, { events: null }, ['events required'])
    await refused(rapport.call, { events: 'deal.won' }, ['events invalid_type'])
    await refused(rapport.call, { events: undefined }, ['events required'])
  })

  test('one 422 names every failing field, and nothing is registered', async () => {
    const call = await newWorkspace(rapport)
    const body = { name: 'x'.repeat(256), url: 'nowhere', events: ['no.such'], secret: 'short', ur1: url }
    const reply = await refused(call, body, [
      'ur1 unknown_field',
      'name too_long',
      'events.0 unknown_value',
      'url invalid_url',
      'secret invalid_format',
    ])
    assert.equal(reply.body.error.message, '5 fields are not valid.')
    assert.deepEqual(fieldCodes(await call('POST', path, {})), ['url required', 'events required'])
    assert.equal((await call('GET', path)).body.meta.total, 0)
  })

  test('a body of 20,000 unknown fields does not hold up the other writers', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 0]))
    const cpu_ms = await cpuTime(async () => {
      const reply = await rapport.call('POST', path, unknown)
      assert.equal(reply.body.error.message, 'At least 1000 fields are not valid. The first 1000 are listed.')
      assert.ok(reply.text.length < 500_000)
    })
    assert.ok(cpu_ms < 4000, `${cpu_ms} ms: the time grows with the square of the fields`)
  })
})

describe('the url', () => {
  const accepted = [
    'https://nowhere.invalid/a-name-that-does-not-resolve-yet',
    'http://8.8.8.8/hook?key=a&b=%20#'.replace('#', ''),
    'HTTPS://8.8.8.8:8443/Hook',
    'https://[2606:4700:4700::1111]/hook',
    'http://localhost:9/hook',
    'http://127.1.2.3/hook',
    'http://[::1]:9/',
    'http://10.1.2.3/hook',
    'http://192.168.1.1',
    'http://[fd12::1]/hook',
  ]
  test('http and https are accepted and kept as they were written; on loopback, private ones too', async () => {
    for (const one of [...accepted, `http://8.8.8.8/${'x'.repeat(2048 - 15)}`]) {
      const { id } = await register(rapport.call, { url: one })
      assert.equal((await webhook(rapport.call, id)).url, one)
    }
  })

  const invalid = [
    'hook',
    '//8.8.8.8/hook',
    'ftp://8.8.8.8/hook',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http:///hook',
    'http:8.8.8.8/hook',
    'http://',
    'https://?x',
    'http://user:password@8.8.8.8/hook',
    'http://user@8.8.8.8/hook',
    'http://@8.8.8.8/hook',
    'http://8.8.8.8/hook#fragment',
    'http://8.8.8.8/hook#',
    'http://8.8.8.8:0/hook',
    'http://8.8.8.8:65536/hook',
    'http://8.8.8.8/ho\tok',
    'http://8.8.8.8/hook\n',
    'http://8.8.8.8/hook\r\nX-Evil: 1',
    '\u00a0http://8.8.8.8/hook',
    'http://8.8.8.8/a b',
    'http://8.8.8.8\\@example.com/',
    'http://[::1/hook',
    `http://8.8.8.8/${'x'.repeat(2049 - 15)}`,
  ]
  test('a url with a password, a fragment, port 0, dropped characters or no host is refused', async () => {
    for (const one of invalid) await refused(rapport.call, { url: one }, ['url invalid_url'])
    for (const blank of ['', null]) await refused(rapport.call, { url: blank }, ['url required'])
    await refused(rapport.call, { url: 5 }, ['url invalid_type'])
    await refused(rapport.call, { url: 'http://8.8.8.8/\0' }, ['url invalid_characters'])
  })

  const metadata = [
    'http://169.254.169.254/latest/meta-data/',
    'http://169.254.1.1/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://2852039166/',
    'http://[64:ff9b::a9fe:a9fe]/',
  ]
  test('cloud metadata is refused even on loopback and with every network allowed', async (t) => {
    const open = await startRapport({ env: { WEBHOOK_ALLOWED_NETWORKS: '0.0.0.0/0,::/0' } })
    t.after(() => open.close())
    for (const { call } of [rapport, open])
      for (const one of metadata) {
        const reply = await refused(call, { url: one }, ['url url_not_allowed'])
        assert.match(reply.body.error.fields[0].message, /metadata/)
      }
  })

  const not_public = [
    'http://127.0.0.1/hook',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://017700000001/',
    'http://localhost/',
    'http://localhost./',
    'http://sub.localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://10.1.2.3/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://[fd12::1]/',
    'http://[fe80::1]/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://100.64.0.1/',
    'http://192.0.2.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[64:ff9b::7f00:1]/',
  ]
  test('a server that others can reach refuses what is not public, and names the setting', async (t) => {
    const reachable = await startRapport({ env: { HOST: '0.0.0.0' } })
    t.after(() => reachable.close())
    for (const one of not_public) {
      const reply = await refused(reachable.call, { url: one }, ['url url_not_allowed'])
      assert.match(reply.body.error.fields[0].message, /WEBHOOK_ALLOWED_NETWORKS/)
    }
    await register(reachable.call, { url: 'https://8.8.8.8/hook' })
    await register(reachable.call, { url: 'https://nowhere.invalid/hook' })
    const { id } = await register(reachable.call, { url: 'https://8.8.4.4/hook' })
    const changed = await reachable.call('PUT', `${path}/${id}`, { url: not_public[0] })
    assert.deepEqual(fieldCodes(changed), ['url url_not_allowed'])
  })

  test('on loopback what is neither private nor public is refused all the same', async () => {
    for (const one of ['http://0.0.0.0/', 'http://100.64.0.1/', 'http://224.0.0.1/', 'http://[fe80::1]/'])
      await refused(rapport.call, { url: one }, ['url url_not_allowed'])
  })

  test('WEBHOOK_ALLOWED_NETWORKS allows its networks and nothing else, and deliveries reach them', async (t) => {
    const env = { HOST: '0.0.0.0', WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16, 127.0.0.1/32' }
    const open = await startRapport({ env })
    t.after(() => open.close())
    await register(open.call, { url: 'http://10.1.255.1/', events: ['deal.won'] })
    await refused(open.call, { url: 'http://10.2.0.1/' }, ['url url_not_allowed'])
    await refused(open.call, { url: 'http://127.0.0.2/' }, ['url url_not_allowed'])
    const { id } = await register(open.call, { url: receiver.url })
    await company(open.call)
    await receiver.waitFor((all) => all.some(({ body }) => body.includes(id)))
  })
})
