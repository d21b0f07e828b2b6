import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problems } from '../envelope.ts'
import { client } from '../harness.ts'
import { scratchFolder, serveProcess } from '../process.ts'
import { exchange } from '../raw-http.ts'
import { useReceiver } from '../receiver.ts'
import { runRapport } from '../run-rapport.ts'
import { register, until } from '../webhooks.ts'

const receiver = useReceiver()

const breaks = [
  'a\r\nX-Injected: 1',
  'a\nX-Injected: 1',
  'a\rX-Injected: 1',
  'a\u2028{"level":60}',
  'a\n{"level":60,"msg":"forged"}\n',
]

test('line breaks in names reach no header, and each log record is one line of JSON', async (t) => {
  const DATA_DIR = scratchFolder(t)
  const key = (await runRapport(['keys', 'create', '--name', 'Test'], { DATA_DIR })).last
  const service = await serveProcess(t, { DATA_DIR, LOG_LEVEL: 'trace', RATE_LIMIT_PER_SECOND: '0' })
  const call = client(service.url, key)
  const events = [
    'contact.created',
    'company.created',
    'deal.created',
    'activity.created',
    'appointment.created',
  ]
  const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
  const hooks = []
  for (const text of breaks) hooks.push(await register(call, { url: receiver.url, name: text, events }))
  for (const text of breaks)
    for (const [resource, body] of [
      ['contacts', { first_name: text, last_name: text, title: text, source: text }],
      ['companies', { name: text, industry: text }],
      ['deals', { name: text, priority: text }],
      ['activities', { subject: text, outcome: text }],
      ['appointments', { title: text, type: text, ...times }],
      ['keys', { name: text }],
    ] as const) {
      const reply = await call('POST', `/api/v1/${resource}`, body)
      assert.equal(reply.status, 201, reply.text)
      assert.equal(reply.headers.get('x-injected'), null)
      const [[field, value]] = Object.entries(body) as [[string, string]]
      assert.equal(reply.body.data[field], value.trim())
    }
  const expected = hooks.length * breaks.length * events.length
  for (const { headers } of await receiver.waitFor(expected)) {
    assert.equal(headers['x-injected'], undefined)
    assert.match(String(headers['x-service-event']), /^[a-z]+\.[a-z_]+$/)
  }
  await refuseBreaks(call, service.url, key)

  // Whatever was asked, each line is a whole record, written by the service.
  const lines = await until(
    async () =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('"level"') || line.includes('X-Injected')),
    (found) => found.length > 30,
  )
  for (const line of lines) {
    const record = JSON.parse(line)
    assert.equal(typeof record.pid, 'number', line)
    assert.equal(typeof record.time, 'number', line)
    assert.notEqual(record.msg, 'forged')
  }
})

/** A value that cannot have a line break is refused with one, and no header of the answer contains it. */
async function refuseBreaks(call: ReturnType<typeof client>, url: string, key: string) {
  for (const text of breaks) {
    const bad = { url: receiver.url, events: [text] }
    assert.deepEqual(Object.keys(problems(await call('POST', '/api/v1/webhooks', bad))), ['events.0'])
    const secret = { url: receiver.url, events: ['deal.won'], secret: `${text}0123456789abcdef` }
    assert.deepEqual(Object.keys(problems(await call('POST', '/api/v1/webhooks', secret))), ['secret'])
    const encoded = encodeURIComponent(text)
    for (const at of [
      `contacts/${encoded}`,
      `${encoded}/x`,
      `contacts?search=${encoded}`,
      `deals?stage=${encoded}`,
      `contacts?${encoded}=1`,
    ]) {
      const reply = await call('GET', `/api/v1/${at}`)
      assert.ok(reply.status < 500, reply.text)
      assert.equal(reply.headers.get('x-injected'), null, at)
    }
    const idempotency = await call('POST', '/api/v1/companies', { name: 'A' }, { 'idempotency-key': encoded })
    assert.equal(idempotency.headers.get('x-injected'), null)
  }
  // HTTP ends a header at a line break: the rest is another header, or invalid.
  for (const request of [
    `GET /api/v1/contacts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: a\rX-Injected: 1\r\n\r\n`,
    `GET /api/v1/contacts\rX HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET /api/v1/contacts HTTP/1.1\r\nHost: a\r\nUser-Agent: a\nX-Injected: 1\r\nConnection: close\r\n\r\n`,
  ])
    for (const reply of await exchange(url, request)) {
      assert.ok(reply.status >= 200 && reply.status < 500, reply.text)
      assert.equal(reply.headers.get('x-injected'), null)
    }
}
