// runs: both
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { useRapport } from '../harness.ts'
import { useReceiver } from '../receiver.ts'
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

const retry_ms = 150
const receiver = useReceiver()
const rapport = useRapport({ env: { WEBHOOK_RETRY_DELAYS: String(retry_ms / 1000) } })
const call = useWorkspaces(rapport, receiver)

/** A webhook that failed for good. */
async function failedWebhook() {
  receiver.answering = () => ({ status: 500 })
  const hook = await register(call, { url: receiver.url })
  await company(call)
  await until(() => webhook(call, hook.id), { status: 'failed' })
  receiver.received.length = 0
  return hook
}

/**
 * The final count. Service and receiver share an event loop, so what was sent has arrived after a few of its turns. On a
 * busy machine, a turn may take long.
 */
async function settled(count: () => number): Promise<number> {
  let last = count()
  let quiet_turns = 0
  while (quiet_turns < 50) {
    await pause(1)
    quiet_turns = count() === last ? quiet_turns + 1 : 0
    last = count()
  }
  return last
}

describe('pause and resume', () => {
  test('what happens while a webhook is paused is kept, and sent when it is resumed', async () => {
    const hook = await register(call, { url: receiver.url })
    const paused = await act(call, hook.id, 'pause')
    assert.deepEqual(paused, { ...(await webhook(call, hook.id)), status: 'paused' })
    const names = ['one', 'two', 'three']
    for (const name of names) await company(call, name)
    await pause(80)
    assert.equal(receiver.received.length, 0)
    for (const { status, attempt_count } of await log(call))
      assert.deepEqual([status, attempt_count], ['pending', 0])
    const resumed = await act(call, hook.id, 'resume')
    assert.equal(resumed.status, 'active')
    const requests = await receiver.waitFor(3)
    assert.deepEqual(requests.map(({ body }) => JSON.parse(body).data.name).sort(), names.sort())
    await until(() => total(call, 'status=succeeded'), 3)
  })

  test('a retry that comes due during a pause waits for the resume, and then goes at once', async () => {
    const paused = Promise.withResolvers<void>()
    receiver.answering = (_request, number) => (number === 1 ? { status: 500, after: paused.promise } : {})
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    await receiver.waitFor(1)
    await act(call, hook.id, 'pause')
    paused.resolve()
    await attempted(call, id)
    await pause(retry_ms + 100)
    assert.equal(receiver.received.length, 1)
    await act(call, hook.id, 'resume')
    assert.equal((await attempted(call, id, 2)).status, 'succeeded')
  })

  test('a pause holds up no other webhook', async () => {
    const hook = await register(call, { url: receiver.url })
    const other = await register(call, { url: `${receiver.url}/other` })
    await act(call, hook.id, 'pause')
    await company(call)
    const [request] = await receiver.waitFor(1)
    assert.equal(request?.path, '/hook/other')
    await attempted(call, (await onlyDelivery(call, other.id)).id)
  })

  test('a success that was in flight when a failed webhook was paused leaves it paused', async () => {
    const hook = await failedWebhook()
    const paused = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: paused.promise })
    await company(call)
    await receiver.waitFor(1)
    await act(call, hook.id, 'pause')
    paused.resolve()
    const [last] = await log(call)
    assert.equal((await attempted(call, String(last?.id))).status, 'succeeded')
    assert.equal((await webhook(call, hook.id)).status, 'paused')
  })

  test('nothing is posted after the 200 of a pause, and all of it after the resume', async () => {
    const hook = await register(call, { url: receiver.url })
    const paused = Promise.withResolvers<void>()
    receiver.answering = (_request, number) => (number < 20 ? { delay_ms: 20 } : { after: paused.promise })
    const creating = Promise.all(Array.from({ length: 100 }, () => company(call)))
    await receiver.waitFor(20)
    await act(call, hook.id, 'pause')
    // Attempts in flight end now, which frees their slots.
    paused.resolve()
    const posted = await settled(() => receiver.received.length)
    assert.ok(posted < 100, 'the pause came in the middle')
    await creating
    assert.equal(await settled(() => receiver.received.length), posted)
    await act(call, hook.id, 'resume')
    await until(() => total(call, 'status=succeeded'), 100)
    assert.equal(receiver.received.length, 100)
  })

  test('the last failure of an attempt that was in flight leaves a paused webhook paused', async () => {
    const hook = await register(call, { url: receiver.url })
    const paused = Promise.withResolvers<void>()
    receiver.answering = (_request, number) =>
      number === 1 ? { status: 500 } : { status: 500, after: paused.promise }
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    await receiver.waitFor(2)
    await act(call, hook.id, 'pause')
    paused.resolve()
    assert.equal((await attempted(call, id, 2)).status, 'failed')
    const { status, status_reason } = await webhook(call, hook.id)
    assert.deepEqual([status, status_reason], ['paused', null])
  })

  test('resume makes a failed webhook active, and pausing or resuming twice changes nothing', async () => {
    const hook = await failedWebhook()
    const resumed = await act(call, hook.id, 'resume')
    assert.deepEqual([resumed.status, resumed.status_reason], ['active', null])
    assert.deepEqual(await act(call, hook.id, 'resume'), resumed)
    const paused = await act(call, hook.id, 'pause')
    assert.deepEqual([paused.status, paused.status_reason], ['paused', null])
    assert.deepEqual(await act(call, hook.id, 'pause'), paused)
    const unknown = await call('POST', `/api/v1/webhooks/${hook.id}/pause`, { until: 'tomorrow' })
    assert.deepEqual([unknown.status, unknown.body.error.fields[0].code], [422, 'unknown_field'])
  })
})

describe('deleting', () => {
  test('cancels pending deliveries: the log keeps them as cancelled and finished, without a next attempt', async () => {
    const paused = Promise.withResolvers<void>()
    receiver.answering = () => ({ status: 500, after: paused.promise })
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id: tried } = await onlyDelivery(call, hook.id)
    await receiver.waitFor(1)
    await act(call, hook.id, 'pause')
    paused.resolve()
    await attempted(call, tried)
    await company(call)
    assert.equal((await call('DELETE', `/api/v1/webhooks/${hook.id}`)).status, 200)
    const cancelled = await log(call, `webhook_id=${hook.id}`)
    assert.deepEqual(
      cancelled.map(({ status, attempt_count, next_attempt_at }) => [status, attempt_count, next_attempt_at]),
      [
        ['cancelled', 0, null],
        ['cancelled', 1, null],
      ],
    )
    // By one clock, that of the database: after the event that came last.
    const last = String(cancelled[0]?.created_at)
    for (const { finished_at } of cancelled) assert.ok(String(finished_at) >= last)
    assert.equal(await total(call, 'status=cancelled'), 2)
    assert.equal(await total(call, 'status=pending'), 0)
    await pause(retry_ms + 100)
    assert.equal(receiver.received.length, 1)
    assert.equal((await delivery(call, tried)).attempts.length, 1)
  })

  test('what is finished stays as it is in the log, and new events make no delivery', async () => {
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    const succeeded = await attempted(call, id)
    await call('DELETE', `/api/v1/webhooks/${hook.id}`)
    assert.deepEqual(await delivery(call, id), succeeded)
    await company(call)
    assert.equal(await total(call), 1)
  })

  test('nothing is posted after the 200, even in the middle of a burst', async () => {
    const hook = await register(call, { url: receiver.url })
    const other = await register(call, { url: `${receiver.url}/other` })
    const arrived = () => receiver.received.filter(({ path }) => path === '/hook')
    const deleted = Promise.withResolvers<void>()
    receiver.answering = ({ path }) =>
      path !== '/hook' || arrived().length < 20 ? { delay_ms: 20 } : { after: deleted.promise }
    const creating = Promise.all(Array.from({ length: 200 }, () => company(call)))
    await receiver.waitFor(() => arrived().length > 20)
    assert.equal((await call('DELETE', `/api/v1/webhooks/${hook.id}`)).status, 200)
    // Attempts in flight end now, which frees their slots.
    deleted.resolve()
    assert.ok((await settled(() => arrived().length)) < 200, 'the deletion came in the middle')
    const posted = arrived().map(({ headers }) => headers)
    await creating
    await until(() => total(call, `webhook_id=${other.id}&status=succeeded`), 200)
    assert.equal(receiver.received.filter(({ path }) => path === '/hook').length, posted.length)
    // Each request that arrived is an attempt in the log, and each attempt arrived.
    const tried = async () => {
      const pages = [1, 2].map((page) => log(call, `webhook_id=${hook.id}&per_page=100&page=${page}`))
      const all = (await Promise.all(pages)).flat()
      return all.filter(({ attempt_count }) => attempt_count > 0).map(({ id }) => id)
    }
    const logged = await until(tried, ({ length }) => length >= posted.length)
    assert.deepEqual(logged.sort(), posted.map((headers) => headers['x-service-delivery']).sort())
    assert.equal(await total(call, `webhook_id=${hook.id}&status=pending`), 0)
  })

  test('an attempt in flight is finished and told in the log of the cancelled delivery', async () => {
    const deleted = Promise.withResolvers<void>()
    receiver.answering = () => ({ after: deleted.promise })
    const hook = await register(call, { url: receiver.url })
    await company(call)
    const { id } = await onlyDelivery(call, hook.id)
    await receiver.waitFor(1)
    await call('DELETE', `/api/v1/webhooks/${hook.id}`)
    assert.equal((await delivery(call, id)).status, 'cancelled')
    deleted.resolve()
    const { status, attempts } = await attempted(call, id)
    assert.deepEqual([status, attempts[0]?.response?.status], ['cancelled', 200])
  })
})
