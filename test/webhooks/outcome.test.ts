import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../../src/config.ts'
import { calmTime } from '../calm-time.ts'
import { client, startRapport, useRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { type Answer, type Received, startTcpServer, useReceiver } from '../receiver.ts'
import { bestOfTen } from '../statements.ts'
import {
  act,
  attempted,
  company,
  delivery,
  log,
  onlyDelivery,
  register,
  until,
  useWorkspaces,
  webhook,
} from '../webhooks.ts'

const retry_delays = [0.2, 0.3]
const receiver = useReceiver()
// An attempt that is to end at its timeout has one of its own.
const rapport = useRapport({
  env: { WEBHOOK_RETRY_DELAYS: retry_delays.join(','), WEBHOOK_TIMEOUT_MS: '60000' },
})
const call = useWorkspaces(rapport, receiver)

describe('the outcome', () => {
  /** The detail of a ping, which is one attempt. */
  const outcome = async (answer: Answer, fields: object = {}) => {
    receiver.answering = () => answer
    const hook = await register(call, { url: receiver.url, ...fields })
    return act(call, hook.id, 'test')
  }

  test('200 to 299 is a success and nothing else is; a redirect is not followed', async () => {
    for (const status of [200, 201, 202, 204, 250, 299])
      assert.equal((await outcome({ status })).status, 'succeeded', String(status))
    for (const status of [400, 401, 404, 410, 429, 500, 503, 599]) {
      const { status: ended, attempts } = await outcome({ status })
      assert.deepEqual([ended, attempts[0].error.code], ['failed', 'http_error'], String(status))
      assert.equal(attempts[0].response.status, status)
    }
    for (const status of [300, 301, 302, 303, 304, 307, 308]) {
      const location = receiver.url.replace('/hook', '/canary')
      const { status: ended, attempts } = await outcome({ status, headers: { location } })
      assert.deepEqual([ended, attempts[0].error.code], ['failed', 'redirect_not_followed'], String(status))
      assert.equal(attempts[0].response.headers.location, location)
    }
    assert.ok(receiver.received.every(({ path }) => path !== '/canary'))
  })

  test('the log shows the documented error codes', async (t) => {
    const garbage = await startTcpServer((socket) => socket.end('this is not HTTP\r\n\r\n'))
    const closed = await startTcpServer(() => {})
    await closed.close()
    t.after(garbage.close)
    const expected: [string, string, Answer?][] = [
      [receiver.url, 'timeout', 'hang'],
      [receiver.url, 'connection_reset', 'reset'],
      ['http://nowhere.invalid/hook', 'dns_error'],
      [closed.url, 'connection_refused'],
      [receiver.url.replace('http:', 'https:'), 'tls_error'],
      [garbage.url, 'protocol_error'],
    ]
    for (const [url, code, answer = {}] of expected) {
      receiver.answering = () => answer
      const own = code === 'timeout' ? { timeout_ms: 1000 } : {}
      const { id } = await register(call, { url, ...own })
      const detail = await act(call, id, 'test')
      assert.equal(detail.status, 'failed')
      const [{ error, response }] = detail.attempts
      assert.deepEqual([error.code, response], [code, null])
      assert.ok(error.message.length > 10)
    }
  })

  test('an attempt ends at its timeout, by default 10 seconds', async () => {
    assert.equal(readConfig({}).webhook_timeout_ms, 10_000)
    const timeout_ms = 1000
    const { value, calm_ms, took_ms } = await bestOfTen(
      () => calmTime(() => outcome('hang', { timeout_ms })),
      (best) => best.calm_ms < timeout_ms + 400,
    )
    const [{ duration_ms, error }] = value.attempts
    assert.equal(error.code, 'timeout')
    // Timers count from the start of their turn of the loop, so one may end some milliseconds early.
    assert.ok(duration_ms >= timeout_ms - 10 && duration_ms <= Math.ceil(took_ms), `${duration_ms} ms`)
    assert.ok(calm_ms < timeout_ms + 400, `${calm_ms} ms`)
  })

  test('a delivery in the log has exactly the documented shape, of its attempts too', async () => {
    const headers = { 'content-type': 'text/plain', 'x-answer': 'yes', date: 'never', connection: 'close' }
    receiver.answering = (_request, number) =>
      number === 1
        ? { status: 503, headers, body: 'try later' }
        : { status: 200, headers, body: 'x'.repeat(20_000) }
    const hook = await register(call, { url: `${receiver.url}?token=mine` })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    const { attempts, ...shown } = await attempted(call, id, 2)
    const [line] = await log(call)
    assert.deepEqual(line, shown)
    assert.deepEqual(Object.keys(shown), [
      'id',
      'webhook_id',
      'event_id',
      'event',
      'status',
      'attempt_count',
      'next_attempt_at',
      'created_at',
      'finished_at',
      'kind',
      'record_id',
    ])
    const { event_id: _event, record_id, created_at, finished_at, ...rest } = shown
    assert.ok(Number(record_id) > 0)
    assert.deepEqual(rest, {
      id,
      webhook_id: hook.id,
      event: 'company.created',
      status: 'succeeded',
      attempt_count: 2,
      next_attempt_at: null,
      kind: 'companies',
    })
    const [first, second] = attempts
    assert.ok(first && second && finished_at)
    const { started_at, duration_ms, request, ...failed } = first
    assert.deepEqual(failed, {
      number: 1,
      response: { status: 503, headers: { ...headers, 'transfer-encoding': 'chunked' }, body: 'try later' },
      error: { code: 'http_error', message: 'The answer had the status 503.' },
    })
    assert.ok(Number.isInteger(duration_ms) && created_at <= started_at && started_at < second.started_at)
    const { headers: sent = {}, body } = receiver.received[0] as Received
    assert.deepEqual(request, {
      url: hook.url,
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Event': 'company.created',
        'X-Service-Delivery': id,
        'X-Service-Signature': sent['x-service-signature'],
        'webhook-id': id,
        'webhook-timestamp': sent['webhook-timestamp'],
        'webhook-signature': sent['webhook-signature'],
        'user-agent': sent['user-agent'],
        'accept-encoding': 'identity',
      },
      body,
    })
    assert.equal(second.error, null)
    assert.deepEqual([second.number, second.response?.status, second.response?.body.length], [2, 200, 16_384])
    assert.deepEqual(Object.keys(second), Object.keys(first))
    assert.ok(!JSON.stringify(attempts).includes(hook.secret))
  })

  test('every single read of a delivery carries an ETag', async () => {
    const { id } = await outcome({})
    const got = await call('GET', `/api/v1/deliveries/${id}`)
    const etag = String(got.headers.get('etag'))
    const again = await call('GET', `/api/v1/deliveries/${id}`, undefined, { 'if-none-match': etag })
    assert.equal(again.status, 304)
    const stale = { 'if-match': '"stale"' }
    assert.equal((await call('POST', `/api/v1/deliveries/${id}/resend`, undefined, stale)).status, 412)
    assert.equal((await call('POST', '/api/v1/deliveries/dlv_none/resend', undefined, stale)).status, 404)
    assert.equal((await call('GET', '/api/v1/deliveries/dlv_none')).status, 404)
  })

  test('an address that is refused by now is blocked at the connection', async (t) => {
    const data_dir = scratchFolder(t)
    receiver.received.length = 0
    const open = await startRapport({ data_dir })
    const hook = await register(open.call, { url: receiver.url })
    await open.close()
    const env = { HOST: '0.0.0.0', WEBHOOK_RETRY_DELAYS: '3600' }
    const strict = await startRapport({ data_dir, env })
    t.after(() => strict.close())
    const here = client(strict.url, open.key)
    await company(here)
    const { id } = await onlyDelivery(here, hook.id)
    const { attempts } = await attempted(here, id)
    assert.equal(attempts[0]?.error?.code, 'address_blocked')
    assert.match(String(attempts[0]?.error?.message), /WEBHOOK_ALLOWED_NETWORKS/)
    assert.equal(receiver.received.length, 0)
    const put = await here('PUT', `/api/v1/webhooks/${hook.id}`, { url: receiver.url, name: 'Kept' })
    assert.equal(put.status, 200, 'an address that is stored already may stay')
  })
})

describe('retries in real time', () => {
  test('come after the set delays, never early, counted from the end of the previous attempt', async () => {
    const slow_ms = 100
    receiver.answering = () => ({ status: 500, delay_ms: slow_ms })
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    let slowest_ms = 0
    let last_ms = performance.now()
    const failed = await until(
      async () => {
        const now = await delivery(call, id)
        slowest_ms = Math.max(slowest_ms, performance.now() - last_ms)
        last_ms = performance.now()
        return now
      },
      ({ status }) => status !== 'pending',
    )
    assert.deepEqual([failed.status, failed.attempt_count], ['failed', 3])
    // A busy machine slows these reads as much, or the time between them.
    const late_ms = 500 + 5 * slowest_ms
    const starts = receiver.received.map(({ at_ms }) => at_ms)
    retry_delays.forEach((seconds, index) => {
      const waited = Number(starts[index + 1]) - (Number(starts[index]) + slow_ms)
      assert.ok(waited >= seconds * 1000 - 2 && waited < seconds * 1000 + late_ms, `${index}: ${waited} ms`)
    })
    await pause(400)
    assert.equal(receiver.received.length, 3)
    assert.equal((await webhook(call, hook.id)).status, 'failed')
  })

  test('are 60, 300 and 1800 seconds unless set otherwise', () => {
    assert.deepEqual(readConfig({}).webhook_retry_delays, [60, 300, 1800])
  })
})
