import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { turnableClock, useRapport } from '../harness.ts'
import { useReceiver, verifySignatures } from '../receiver.ts'
import {
  act,
  attempted,
  company,
  delivery,
  log,
  onlyDelivery,
  register,
  total,
  until,
  useWorkspaces,
  webhook,
} from '../webhooks.ts'

const clock = turnableClock(Date.now())
const receiver = useReceiver()
const rapport = useRapport({ clock, env: { WEBHOOK_RETRY_DELAYS: '60' } })
const call = useWorkspaces(rapport, receiver)

const resend = (id: string, headers = {}) =>
  call('POST', `/api/v1/deliveries/${id}/resend`, undefined, headers)

/** Turns the clock to the retry, which is the last one here. */
async function turn() {
  clock.advance(60_000)
  rapport.wake()
  await pause(30)
}

/** A webhook whose one delivery succeeded. */
async function succeeded() {
  const hook = await register(call, { url: receiver.url })
  await company(call)
  const { id } = await onlyDelivery(call, hook.id)
  await attempted(call, id)
  return { hook, id }
}

/** A webhook whose one delivery failed for good, so that the webhook failed too. */
async function failed() {
  receiver.answering = () => ({ status: 500 })
  const made = await succeeded()
  await turn()
  await attempted(call, made.id, 2)
  receiver.received.length = 0
  return made
}

describe('resend', () => {
  test('makes one attempt at once, numbered on, with the same bytes and the same delivery id', async () => {
    const { hook, id } = await succeeded()
    const reply = await resend(id)
    assert.equal(reply.status, 200, reply.text)
    const { status, attempt_count, finished_at, attempts } = reply.body.data
    assert.deepEqual([status, attempt_count, finished_at, attempts.length], ['pending', 1, null, 1])
    const after = await attempted(call, id, 2)
    assert.deepEqual(
      after.attempts.map(({ number }) => number),
      [1, 2],
    )
    assert.equal(after.status, 'succeeded')
    const [first, second] = receiver.received
    assert.equal(second?.body, first?.body)
    assert.equal(second?.headers['x-service-delivery'], id)
    await receiver.verify(hook.secret)
    assert.equal(await total(call), 1)
  })

  test('is not retried, and the status of the delivery follows its latest attempt', async () => {
    const { hook, id } = await succeeded()
    receiver.answering = () => ({ status: 500 })
    await resend(id)
    const down = await attempted(call, id, 2)
    assert.deepEqual([down.status, down.next_attempt_at], ['failed', null])
    assert.ok(down.finished_at)
    assert.equal((await webhook(call, hook.id)).status, 'active', 'one failed resend is not the last retry')
    await turn()
    assert.equal(receiver.received.length, 2)
    receiver.answering = () => ({})
    await resend(id)
    assert.equal((await attempted(call, id, 3)).status, 'succeeded')
    for (const [status, count] of Object.entries({ succeeded: 1, failed: 0, pending: 0 }))
      assert.equal(await total(call, `status=${status}`), count, status)
  })

  test('that succeeds makes a failed webhook active', async () => {
    const { hook, id } = await failed()
    await resend(id)
    await attempted(call, id, 3)
    assert.equal((await webhook(call, hook.id)).status, 'failed')
    receiver.answering = () => ({})
    await resend(id)
    assert.equal((await attempted(call, id, 4)).status, 'succeeded')
    assert.equal((await webhook(call, hook.id)).status, 'active')
  })

  test('is for deliveries that are not cancelled, of a webhook that is there and not paused: 409 otherwise', async () => {
    const { hook, id } = await failed()
    const refused = async (delivery_id: string) => {
      const before = await delivery(call, delivery_id)
      const reply = await resend(delivery_id)
      assert.deepEqual([reply.status, reply.body.error.code], [409, 'conflict'])
      assert.deepEqual(await delivery(call, delivery_id), before)
    }
    await company(call)
    const [waiting] = await until(
      () => log(call, 'status=pending'),
      ([one]) => one?.attempt_count === 1,
    )
    await act(call, hook.id, 'pause')
    await refused(String(waiting?.id))
    await refused(id)
    await act(call, hook.id, 'resume')
    await call('DELETE', `/api/v1/webhooks/${hook.id}`)
    await refused(id)
    await refused(String(waiting?.id))
    assert.equal((await resend('dlv_unknown')).status, 404)
  })

  test('of a pending delivery makes its next attempt come at once, and the retries go on as usual', async () => {
    receiver.answering = () => ({ status: 500 })
    const hook = await register(call, { url: receiver.url, retry_delays: [3600, 60] })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    const first = await attempted(call, id)
    assert.equal(Date.parse(String(first.next_attempt_at)) >= clock.now() + 3_500_000, true)
    const reply = await resend(id)
    assert.equal(reply.status, 200, reply.text)
    const { status, attempt_count, next_attempt_at } = reply.body.data
    assert.deepEqual(
      [status, attempt_count, next_attempt_at],
      ['pending', 1, new Date(clock.now()).toISOString()],
    )
    const second = await attempted(call, id, 2)
    assert.equal(second.status, 'pending', 'it was its first retry')
    const [last] = second.attempts.slice(-1)
    const ended_ms = Date.parse(String(last?.started_at)) + Number(last?.duration_ms)
    const wait_ms = Date.parse(String(second.next_attempt_at)) - ended_ms
    assert.ok(wait_ms >= 59_000 && wait_ms <= 61_000, `the second retry after ${wait_ms} ms`)
    await turn()
    assert.equal((await attempted(call, id, 3)).status, 'failed')
    const [entry] = (await call('GET', `/api/v1/audit-log?kind=deliveries&record_id=${id}`)).body.data
    assert.deepEqual([entry.action, entry.before], ['resent', { next_attempt_at: first.next_attempt_at }])
  })

  test('of a delivery whose attempt is in flight changes nothing', async () => {
    const answered = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: answered.promise })
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    await receiver.waitFor(1)
    const before = await delivery(call, id)
    const reply = await resend(id)
    assert.deepEqual([reply.status, reply.body.data], [200, before])
    answered.resolve()
    assert.equal((await attempted(call, id)).status, 'succeeded')
    assert.equal(receiver.received.length, 1)
  })

  test('of an ordered webhook sends the first delivery of a record only; a later one is a conflict that names it', async () => {
    receiver.answering = () => ({ status: 500 })
    const hook = await register(call, { url: receiver.url, events: ['company.*'], ordered: true })
    const { id: record } = await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    await attempted(call, id)
    await call('PUT', `/api/v1/companies/${record}`, { phone: '1' })
    const [later] = await log(call)
    const refused = await resend(String(later?.id))
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'conflict'])
    assert.match(refused.body.error.message, new RegExp(id))
    receiver.answering = () => ({})
    assert.equal((await resend(id)).status, 200)
    await attempted(call, id, 2)
    assert.equal((await attempted(call, String(later?.id))).status, 'succeeded')
    const bodies = receiver.received.slice(-2).map(({ headers }) => headers['x-service-delivery'])
    assert.deepEqual(bodies, [id, later?.id])
  })

  test('twice at once is sent once', async () => {
    const { id } = await succeeded()
    const refused = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: refused.promise })
    const replies = await Promise.all([resend(id), resend(id), resend(id)])
    refused.resolve()
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200],
    )
    await attempted(call, id, 2)
    assert.equal(receiver.received.length, 2)
  })

  test('with an Idempotency-Key is sent once, and the answer is the same', async () => {
    const { id } = await succeeded()
    const first = await resend(id, { 'idempotency-key': 'again' })
    await attempted(call, id, 2)
    const second = await resend(id, { 'idempotency-key': 'again' })
    assert.deepEqual([second.status, second.text], [200, first.text])
    assert.equal(second.headers.get('idempotency-replayed'), 'true')
    await pause(30)
    assert.equal(receiver.received.length, 2)
  })
})

describe('resend-failed', () => {
  const path = (id: string) => `/api/v1/webhooks/${id}/resend-failed`

  test('sends every failed delivery again that was created at or after since, and answers with their number', async () => {
    receiver.answering = () => ({ status: 500 })
    const hook = await register(call, { url: receiver.url })
    const other = await register(call, { url: `${receiver.url}/other` })
    for (let n = 0; n < 4; n++) {
      await company(call, `Company ${n}`)
      await until(
        () => log(call),
        (all) => all.length === 2 * (n + 1) && all.every((one) => one.attempt_count === 1),
      )
      clock.advance(1000)
    }
    await turn()
    // Deliveries of the other webhook fail, too, so that none is in flight when the receiver answers otherwise.
    await until(() => total(call, 'status=failed'), 8)
    const failures = await log(call, `webhook_id=${hook.id}&status=failed`)
    receiver.answering = () => ({})
    receiver.received.length = 0
    const since = String(failures[1]?.created_at)
    const reply = await call('POST', path(hook.id), { since })
    assert.deepEqual([reply.status, reply.body], [200, { success: true, data: { count: 2 } }])
    const done = await until(
      () => log(call, `webhook_id=${hook.id}&status=succeeded`),
      (all) => all.length === 2,
    )
    assert.deepEqual(
      done.map(({ id, attempt_count }) => [id, attempt_count]),
      failures.slice(0, 2).map(({ id }) => [id, 3]),
    )
    assert.equal(receiver.received.length, 2)
    assert.equal((await webhook(call, hook.id)).status, 'active')
    assert.equal((await webhook(call, other.id)).status, 'failed')
    // The same moment in another time zone, one millisecond later: the first of the rest is left out.
    const later = new Date(Date.parse(String(failures[3]?.created_at)) + 1).toISOString()
    assert.deepEqual(await act(call, hook.id, 'resend-failed', { since: later }), { count: 1 })
    assert.deepEqual(await act(call, hook.id, 'resend-failed'), { count: 1 })
    await until(() => total(call, `webhook_id=${hook.id}&status=succeeded`), 4)
    assert.deepEqual(await act(call, hook.id, 'resend-failed', {}), { count: 0 })
  })

  test('takes since in any time zone, null as absent, and refuses what is no time', async () => {
    const { hook, id } = await failed()
    const { created_at } = await delivery(call, id)
    const shifted = new Date(Date.parse(created_at) + 2 * 3600 * 1000).toISOString().replace('Z', '+02:00')
    for (const since of [shifted, null]) {
      assert.deepEqual(await act(call, hook.id, 'resend-failed', { since }), { count: 1 })
      await until(() => total(call, 'status=failed'), 1)
    }
    const wrong = [
      '2026-11-21',
      'yesterday',
      '2026-12-31T23:59:60Z',
      '2026-02-30T00:00:00Z',
      '2026-11-21T08:00:00+02',
      5,
    ]
    for (const since of wrong) {
      const reply = await call('POST', path(hook.id), { since })
      assert.equal(reply.status, 422, `${since}`)
      assert.equal(reply.body.error.fields[0].field, 'since')
    }
    assert.equal((await call('POST', path(hook.id), { form: created_at })).status, 422)
  })

  test('is a conflict while the webhook is paused', async () => {
    const { hook } = await failed()
    await act(call, hook.id, 'pause')
    const reply = await call('POST', path(hook.id))
    assert.deepEqual([reply.status, reply.body.error.code], [409, 'conflict'])
    assert.equal(await total(call, 'status=failed'), 1)
  })
})

describe('a ping', () => {
  test('waits for its attempt and answers with the delivery and what came back', async () => {
    receiver.answering = () => ({ status: 202, body: 'thanks', delay_ms: 60 })
    const hook = await register(call, { url: receiver.url, events: ['deal.won'] })
    const reply = await call('POST', `/api/v1/webhooks/${hook.id}/test`)
    assert.equal(reply.status, 200, reply.text)
    const { id, status, event, attempt_count, attempts } = reply.body.data
    assert.deepEqual([status, event, attempt_count], ['succeeded', 'ping', 1])
    assert.deepEqual([attempts[0].response.status, attempts[0].response.body], [202, 'thanks'])
    assert.deepEqual(await delivery(call, id), reply.body.data)
    const [request] = receiver.received
    assert.equal(request?.headers['x-service-event'], 'ping')
    assert.equal(request?.headers['x-service-delivery'], id)
    const {
      id: event_id,
      event: name,
      timestamp,
      webhook_id,
      data,
      ...rest
    } = JSON.parse(String(request?.body))
    assert.deepEqual([event_id, name, webhook_id, rest], [reply.body.data.event_id, 'ping', hook.id, {}])
    assert.equal(timestamp, reply.body.data.created_at)
    assert.equal(typeof data.message, 'string')
    // The clock was turned too far for the standard signature's tolerance.
    assert.ok(request && (await verifySignatures(hook.secret, request)).service)
  })

  test('is one attempt, also when it fails, and never changes the status of the webhook', async () => {
    const { hook } = await failed()
    const { status_reason } = await webhook(call, hook.id)
    receiver.answering = () => ({})
    const good = await act(call, hook.id, 'test')
    assert.equal(good.status, 'succeeded')
    assert.deepEqual(await webhook(call, hook.id).then((one) => [one.status, one.status_reason]), [
      'failed',
      status_reason,
    ])
    await resend(good.id)
    await attempted(call, good.id, 2)
    assert.equal((await webhook(call, hook.id)).status, 'failed', 'a ping that is sent again is still a ping')

    await act(call, hook.id, 'resume')
    receiver.answering = () => ({ status: 500 })
    const bad = await act(call, hook.id, 'test')
    assert.deepEqual([bad.status, bad.next_attempt_at, bad.attempt_count], ['failed', null, 1])
    const sent = receiver.received.length
    await turn()
    await turn()
    assert.equal(receiver.received.length, sent)
    assert.equal((await webhook(call, hook.id)).status, 'active')
  })

  test('sends the example of an event, marked as a test, which the log has and the feed has not', async () => {
    const { hook } = await failed()
    receiver.answering = () => ({})
    const { body: types } = await call('GET', '/api/v1/event-types')
    const won = types.data.find(({ name }: { name: string }) => name === 'deal.won')
    const sent = await act(call, hook.id, 'test', { event: 'deal.won' })
    assert.deepEqual([sent.status, sent.event], ['succeeded', 'deal.won'])
    const request = receiver.received.at(-1)
    assert.equal(request?.headers['x-service-event'], 'deal.won')
    assert.ok(request && (await verifySignatures(hook.secret, request)).service)
    const payload = JSON.parse(request.body)
    assert.deepEqual(payload.data, won.example.data)
    assert.deepEqual([payload.test, payload.webhook_id], [true, hook.id])
    assert.deepEqual(Object.keys(payload).sort(), [...Object.keys(won.example), 'test'].sort())
    const { body: feed } = await call('GET', '/api/v1/events?per_page=100')
    assert.ok(feed.data.every(({ id }: { id: string }) => id !== payload.id))
    // A test that is sent again is still a test.
    await resend(sent.id)
    await attempted(call, sent.id, 2)
    assert.equal((await webhook(call, hook.id)).status, 'failed')
    receiver.answering = () => ({ status: 500 })
    const bad = await act(call, hook.id, 'test', { event: 'contact.updated' })
    assert.deepEqual([bad.status, bad.next_attempt_at], ['failed', null])
    const { body: again } = await call('POST', `/api/v1/webhooks/${hook.id}/resend-failed`)
    const failures = await log(call, `webhook_id=${hook.id}&status=pending`)
    assert.equal(again.data.count, failures.length)
    assert.ok(failures.every(({ id }) => id !== bad.id))
    const refused = await call('POST', `/api/v1/webhooks/${hook.id}/test`, { event: 'deal.wonn' })
    assert.equal(refused.status, 422)
    assert.match(refused.body.error.fields[0].message, /deal\.won/)
  })

  test('also goes to a paused webhook, which stays paused', async () => {
    const hook = await register(call, { url: receiver.url })
    await act(call, hook.id, 'pause')
    await company(call)
    assert.equal((await act(call, hook.id, 'test')).status, 'succeeded')
    assert.equal((await webhook(call, hook.id)).status, 'paused')
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['x-service-event']),
      ['ping'],
    )
  })

  test('goes out although a backlog waits', async () => {
    receiver.answering = ({ headers }) => (headers['x-service-event'] === 'ping' ? {} : 'hang')
    const hook = await register(call, { url: receiver.url })
    for (let n = 0; n < 20; n++) await company(call)
    assert.equal((await act(call, hook.id, 'test')).status, 'succeeded')
    await call('DELETE', `/api/v1/webhooks/${hook.id}`)
    receiver.drop()
  })

  test('with an Idempotency-Key is sent once, and a repeated request gets the same answer', async () => {
    const refused = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: refused.promise })
    const hook = await register(call, { url: receiver.url })
    const ping = () =>
      call('POST', `/api/v1/webhooks/${hook.id}/test`, undefined, { 'idempotency-key': 'ping once' })
    const first = ping()
    await receiver.waitFor(1)
    const meanwhile = await ping()
    assert.deepEqual([meanwhile.status, meanwhile.body.error.code], [409, 'conflict'])
    refused.resolve()
    const { status, text } = await first
    const replayed = await ping()
    assert.deepEqual([status, replayed.status, replayed.text], [200, 200, text])
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
    assert.equal(receiver.received.length, 1)
  })

  test('takes no other field than the event, and an unknown webhook is 404', async () => {
    const hook = await register(call, { url: receiver.url })
    const reply = await call('POST', `/api/v1/webhooks/${hook.id}/test`, { message: 'Hello' })
    assert.deepEqual([reply.status, reply.body.error.fields[0].code], [422, 'unknown_field'])
    assert.equal((await call('POST', '/api/v1/webhooks/wh_unknown/test')).status, 404)
    assert.deepEqual([receiver.received.length, await total(call)], [0, 0])
  })
})
