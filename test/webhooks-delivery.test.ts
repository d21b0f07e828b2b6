import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { calmTime } from './calm-time.ts'
import { newWorkspace, readStored } from './database.ts'
import { client, startRapport, useRapport } from './harness.ts'
import { scratchFolder } from './process.ts'
import { type Answer, type Received, startTcpServer, useReceiver } from './receiver.ts'
import {
  act,
  attempted,
  type Call,
  company,
  delivery,
  log,
  onlyDelivery,
  register,
  until,
  webhook,
} from './webhooks.ts'

const retry_delays = [0.2, 0.3]
const timeout_ms = 400
const receiver = useReceiver()
const rapport = useRapport({
  env: { WEBHOOK_RETRY_DELAYS: retry_delays.join(','), WEBHOOK_TIMEOUT_MS: String(timeout_ms) },
})
let call: Call
// Each test has a workspace of its own, so that only its own webhooks hear of its events.
const fresh = async () => {
  call = await newWorkspace(rapport)
  receiver.answering = () => ({})
  receiver.received.length = 0
}
const parsed = ({ body }: Received) => JSON.parse(body)
const deal = async (fields: object) => (await call('POST', '/api/v1/deals', fields)).body.data

describe('what arrives', () => {
  test('the headers are exactly the documented ones, and foreign libraries verify both kinds of signature', async () => {
    await fresh()
    for (const secret of [undefined, 'a plain secret of the client', 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=']) {
      receiver.received.length = 0
      const hook = await register(call, { url: receiver.url, secret })
      await company(call, 'Ωmega 🚀 GmbH')
      const [request] = await receiver.waitFor(1)
      assert.ok(request)
      await receiver.verify(hook.secret, [request])
      const { id } = await onlyDelivery(call, hook.id)
      const { host, 'content-length': length, connection: _connection, ...headers } = request.headers
      const hmac = createHmac('sha256', hook.secret).update(request.body).digest('hex')
      const {
        'webhook-signature': signature,
        'webhook-timestamp': timestamp,
        'user-agent': agent,
        ...rest
      } = headers
      assert.deepEqual(rest, {
        'content-type': 'application/json',
        'x-service-event': 'company.created',
        'x-service-delivery': id,
        'x-service-signature': `sha256=${hmac}`,
        'webhook-id': id,
        'accept-encoding': 'identity',
      })
      assert.match(String(signature), /^v1,[A-Za-z0-9+/]{43}=$/)
      assert.match(String(timestamp), /^\d{10}$/)
      assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 5)
      assert.match(String(agent), /^Rapport/)
      assert.equal(host, new URL(receiver.url).host)
      assert.equal(Number(length), Buffer.byteLength(request.body))
      assert.equal(`${request.method} ${request.path}`, 'POST /hook')
      await call('DELETE', `/api/v1/webhooks/${hook.id}`)
    }
  })

  test('a payload is id, event, timestamp, webhook_id and data; data is the record as GET shows it', async () => {
    await fresh()
    const hook = await register(call, { url: receiver.url, events: ['company.created', 'deal.created'] })
    const { id: company_id } = await company(call)
    await deal({ name: 'Relaunch', value: 12500.5, company_id })
    const requests = await receiver.waitFor(2)
    for (const { event, path } of [
      { event: 'company.created', path: 'companies' },
      { event: 'deal.created', path: 'deals' },
    ]) {
      const payload = requests.map(parsed).find((one) => one.event === event)
      const { id, timestamp, sequence, data, actor, ...rest } = payload
      assert.deepEqual(rest, { event, webhook_id: hook.id, source: 'api', api_version: '2026-12-01' })
      assert.ok(Number.isSafeInteger(sequence) && sequence > 0)
      assert.deepEqual(actor, data.created_by)
      assert.match(id, /^evt_\w+$/)
      assert.equal(timestamp, data.created_at)
      assert.deepEqual((await call('GET', `/api/v1/${path}/${data.id}`)).body.data, data)
      const [logged] = await log(call, `event=${event}`)
      assert.equal(logged?.event_id, id)
    }
  })

  test('an update names the changed fields and their previous values beside data; deleting sends the last data', async () => {
    await fresh()
    const events = ['company.updated', 'company.deleted']
    const origin = ['actor', 'source', 'api_version']
    await register(call, { url: receiver.url, events })
    const { id } = await company(call, 'Before')
    const one = `/api/v1/companies/${id}`
    const updated = (await call('PUT', one, { name: 'After', phone: '+1', industry: null })).body.data
    await call('PUT', one, { name: 'After' })
    await call('DELETE', one)
    const [first, second] = (await receiver.waitFor(2)).map(parsed).sort((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(Object.keys(first), [
      'id',
      'event',
      'timestamp',
      'sequence',
      'webhook_id',
      'data',
      'changed_fields',
      'previous',
      ...origin,
    ])
    assert.deepEqual(first.changed_fields, ['name', 'phone'])
    assert.deepEqual(first.previous, { name: 'Before', phone: null })
    assert.deepEqual(first.data, updated)
    const top = ['id', 'event', 'timestamp', 'sequence', 'webhook_id', 'data']
    assert.deepEqual(Object.keys(second), [...top, ...origin])
    assert.equal(second.event, 'company.deleted')
    assert.deepEqual(second.data, updated)
    assert.equal((await log(call)).length, 2)
  })

  test('deal.won and deal.stage_changed have exactly the keys of the interface', async () => {
    await fresh()
    await register(call, { url: receiver.url, events: ['deal.won', 'deal.stage_changed'] })
    const { id, name } = await deal({ name: 'Relaunch' })
    const { closed_at } = (await call('POST', `/api/v1/deals/${id}/change-stage`, { stage: 'won' })).body.data
    const requests = (await receiver.waitFor(2)).map(parsed)
    const data = (event: string) => requests.find((one) => one.event === event)?.data
    assert.deepEqual(data('deal.won'), {
      id,
      name,
      value: null,
      contact_id: null,
      company_id: null,
      stage: 'won',
      closed_at,
    })
    assert.deepEqual(data('deal.stage_changed'), {
      id,
      name,
      previous_stage: 'new_lead',
      new_stage: 'won',
      value: null,
    })
  })

  test('every webhook that asked for an event gets it once, with its own webhook_id; others get nothing', async () => {
    await fresh()
    const hooks = await Promise.all(
      ['/a', '/b', '/c'].map((path) => register(call, { url: receiver.url + path })),
    )
    await register(call, { url: `${receiver.url}/d`, events: ['company.deleted'] })
    await company(call)
    await receiver.waitFor(3)
    await until(
      () => log(call, 'status=succeeded'),
      (all) => all.length === 3,
    )
    const payloads = receiver.received.map(parsed)
    assert.deepEqual(payloads.map((one) => one.webhook_id).sort(), hooks.map((one) => one.id).sort())
    assert.equal(new Set(payloads.map((one) => one.id)).size, 1)
    assert.equal(new Set(receiver.received.map((one) => one.headers['x-service-delivery'])).size, 3)
  })

  test('a refused or empty change sends nothing', async () => {
    await fresh()
    const events = [
      'company.created',
      'company.updated',
      'deal.created',
      'deal.stage_changed',
      'deal.updated',
    ]
    await register(call, { url: receiver.url, events })
    const { id } = await company(call)
    const { id: deal_id } = await deal({ name: 'Same' })
    await receiver.waitFor(2)
    assert.equal((await call('POST', '/api/v1/companies', { name: 5 })).status, 422)
    assert.equal((await call('POST', '/api/v1/deals', { name: 'x', company_id: 999_999 })).status, 422)
    assert.equal((await call('PUT', `/api/v1/companies/${id}`, { name: 'Acme' })).status, 200)
    assert.equal(
      (await call('POST', `/api/v1/deals/${deal_id}/change-stage`, { stage: 'new_lead' })).status,
      200,
    )
    await pause(50)
    // On a busy machine, an attempt may take too long and be repeated.
    const ids = receiver.received.map((one) => one.headers['x-service-delivery'])
    assert.equal(new Set(ids).size, 2)
    assert.equal((await log(call)).length, 2)
  })

  test('the bytes are the stored ones with the webhook_id, equal on every retry and resend', async () => {
    await fresh()
    receiver.answering = (_request, number) => ({ status: number < 3 ? 500 : 200 })
    const hook = await register(call, { url: receiver.url })
    await company(call, 'Tricky ,"data":{} $& \\u0041 Ωmega 🚀')
    const { id } = await onlyDelivery(call, hook.id)
    await attempted(call, id, 3)
    await call('POST', `/api/v1/deliveries/${id}/resend`)
    const { attempts, event_id } = await attempted(call, id, 4)
    const bodies = receiver.received.map(({ body }) => body)
    const stored = await readStored(rapport.data_dir)
    const [{ payload, seq } = {}] = await stored.rows(
      'SELECT payload, seq FROM events WHERE id = ?',
      event_id,
    )
    await stored.close()
    const filled = `,"sequence":${seq},"webhook_id":"${hook.id}","data"`
    const expected = String(payload).replace(',"sequence":0,"data"', filled)
    assert.deepEqual(bodies, Array(4).fill(expected))
    assert.deepEqual(
      attempts.map(({ request }) => request.body),
      bodies,
    )
    const ids = receiver.received.map(({ headers }) => headers['x-service-delivery'])
    assert.deepEqual(ids, Array(4).fill(id))
    await receiver.verify(hook.secret)
  })
})

describe('the outcome', () => {
  /** The detail of a ping, which is one attempt. */
  const outcome = async (answer: Answer, path = '') => {
    receiver.answering = ({ path: asked }) => (asked === `/hook${path}` ? answer : {})
    const hook = await register(call, { url: receiver.url + path })
    return act(call, hook.id, 'test')
  }

  test('200 to 299 is a success and nothing else is; a redirect is not followed', async () => {
    await fresh()
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
    await fresh()
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
      const own = code === 'timeout' ? {} : { timeout_ms: 30_000 }
      const { id } = await register(call, { url, ...own })
      const detail = await act(call, id, 'test')
      assert.equal(detail.status, 'failed')
      const [{ error, response }] = detail.attempts
      assert.deepEqual([error.code, response], [code, null])
      assert.ok(error.message.length > 10)
    }
  })

  test('an attempt ends at its timeout, by default 10 seconds', async () => {
    await fresh()
    assert.equal(readConfig({}).webhook_timeout_ms, 10_000)
    const { value, calm_ms, took_ms } = await calmTime(() => outcome('hang'))
    const [{ duration_ms, error }] = value.attempts
    assert.equal(error.code, 'timeout')
    // Timers count from the start of their turn of the loop, so one may end some milliseconds early.
    assert.ok(duration_ms >= timeout_ms - 10 && duration_ms <= Math.ceil(took_ms), `${duration_ms} ms`)
    assert.ok(calm_ms < timeout_ms + 400, `${calm_ms} ms`)
  })

  test('a delivery in the log has exactly the documented shape, of its attempts too', async () => {
    await fresh()
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
    ])
    const { event_id: _event, created_at, finished_at, ...rest } = shown
    assert.deepEqual(rest, {
      id,
      webhook_id: hook.id,
      event: 'company.created',
      status: 'succeeded',
      attempt_count: 2,
      next_attempt_at: null,
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
    await fresh()
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
    await fresh()
    const slow_ms = 100
    receiver.answering = () => ({ status: 500, delay_ms: slow_ms })
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    let slowest_ms = 0
    const failed = await until(
      async () => {
        const asked_at = performance.now()
        const now = await delivery(call, id)
        slowest_ms = Math.max(slowest_ms, performance.now() - asked_at)
        return now
      },
      ({ status }) => status !== 'pending',
    )
    assert.deepEqual([failed.status, failed.attempt_count], ['failed', 3])
    // A busy machine slows reads as much.
    const late_ms = 500 + 10 * slowest_ms
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
