// runs: both
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readStored } from '../database.ts'
import { useRapport } from '../harness.ts'
import { type Received, useReceiver } from '../receiver.ts'
import { attempted, company, log, onlyDelivery, register, until, useWorkspaces } from '../webhooks.ts'

const receiver = useReceiver()
// On a busy machine, an attempt may take long, but is not repeated.
const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: '0.2,0.3', WEBHOOK_TIMEOUT_MS: '60000' } })
const call = useWorkspaces(rapport, receiver)
const parsed = ({ body }: Received) => JSON.parse(body)
const deal = async (fields: object) => (await call('POST', '/api/v1/deals', fields)).body.data

describe('what arrives', () => {
  test('the headers are exactly the documented ones, and foreign libraries verify both kinds of signature', async () => {
    for (const secret of [undefined, 'a plain secret of the client', 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=']) {
      receiver.received.length = 0
      const begun = Math.floor(Date.now() / 1000) - 1
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
      assert.ok(Number(timestamp) >= begun && Number(timestamp) <= Date.now() / 1000 + 1)
      assert.match(String(agent), /^Rapport/)
      assert.equal(host, new URL(receiver.url).host)
      assert.equal(Number(length), Buffer.byteLength(request.body))
      assert.equal(`${request.method} ${request.path}`, 'POST /hook')
      await call('DELETE', `/api/v1/webhooks/${hook.id}`)
    }
  })

  test('a payload is id, event, timestamp, webhook_id and data; data is the record as GET shows it', async () => {
    const hook = await register(call, { url: receiver.url, events: ['company.created', 'deal.created'] })
    const { id: alone } = await company(call)
    // A deal changes the open value of its company.
    const { id: company_id } = await company(call)
    const made = await deal({ name: 'Relaunch', value: 12500.5, company_id })
    const requests = await receiver.waitFor(3)
    for (const { event, path, of } of [
      { event: 'company.created', path: 'companies', of: alone },
      { event: 'deal.created', path: 'deals', of: made.id },
    ]) {
      const payload = requests.map(parsed).find((one) => one.event === event && one.data.id === of)
      const { id, timestamp, sequence, data, actor, ...rest } = payload
      assert.deepEqual(rest, { event, webhook_id: hook.id, source: 'api', api_version: '2026-12-01' })
      assert.ok(Number.isSafeInteger(sequence) && sequence > 0)
      assert.deepEqual(actor, data.created_by)
      assert.match(id, /^evt_\w+$/)
      assert.equal(timestamp, data.created_at)
      assert.deepEqual((await call('GET', `/api/v1/${path}/${data.id}`)).body.data, data)
      assert.ok((await log(call, `event=${event}`)).some(({ event_id }) => event_id === id))
    }
  })

  test('an update names the changed fields and their previous values beside data; deleting sends the last data', async () => {
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
    assert.equal(receiver.received.length, 2)
    assert.equal((await log(call)).length, 2)
  })

  test('the bytes are the stored ones with the webhook_id, equal on every retry and resend', async () => {
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
