// runs: both
import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { client, startRapport, turnableClock, useRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { useReceiver } from '../receiver.ts'
import {
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

const clock = turnableClock()
const at = (ms: number) => new Date(ms).toISOString()
const receiver = useReceiver()
const rapport = useRapport({ clock })
const call = useWorkspaces(rapport, receiver, () => ({ status: 500 }))
// Pending retries must not reach the next test, which sets the clock.
afterEach(async () => {
  for (const { id } of (await call('GET', '/api/v1/webhooks')).body.data)
    await call('DELETE', `/api/v1/webhooks/${id}`)
})

/** Sets the clock and wakes the service, then waits until due deliveries arrive. */
async function turn(ms: number) {
  clock.advance(ms)
  rapport.wake()
  await pause(40)
}

/** A webhook with one event, after its first attempt. */
async function begun() {
  const hook = await register(call, { url: receiver.url })
  await company(call)
  const { id } = await onlyDelivery(call, hook.id)
  await attempted(call, id)
  return { hook, id }
}

/** Lets a delivery fail for good, its webhook with it. */
async function failed() {
  const made = await begun()
  for (const [index, seconds] of [60, 300, 1800].entries()) {
    await turn(seconds * 1000)
    await attempted(call, made.id, index + 2)
  }
  assert.equal((await webhook(call, made.hook.id)).status, 'failed')
  return made
}

describe('retries', () => {
  test('come 1, 5 and 30 minutes after the previous attempt ended, to the millisecond, and then no more', async () => {
    // The receiver takes 7 seconds of the service's time: the delays count from the end.
    receiver.answering = () => {
      clock.advance(7000)
      return { status: 500 }
    }
    const started = clock.now()
    const { hook, id } = await begun()
    let ended = started + 7000
    for (const [index, seconds] of [60, 300, 1800].entries()) {
      const waiting = await attempted(call, id, index + 1)
      assert.deepEqual([waiting.status, waiting.next_attempt_at], ['pending', at(ended + seconds * 1000)])
      assert.equal((await webhook(call, hook.id)).status, 'active')
      await turn(seconds * 1000 - 1)
      assert.equal(receiver.received.length, index + 1, 'one millisecond early')
      await turn(1)
      assert.equal((await receiver.waitFor(index + 2)).length, index + 2)
      ended += seconds * 1000 + 7000
    }
    const { attempts, ...shown } = await attempted(call, id, 4)
    assert.deepEqual(
      [shown.status, shown.attempt_count, shown.next_attempt_at, shown.finished_at],
      ['failed', 4, null, at(ended)],
    )
    const starts = [0, 67, 374, 2181].map((seconds) => at(started + seconds * 1000))
    assert.deepEqual(
      attempts.map(({ number, started_at }) => [number, started_at]),
      starts.map((start, index) => [index + 1, start]),
    )
    await turn(24 * 3600 * 1000)
    assert.equal(receiver.received.length, 4)
  })

  test('after the last one the delivery is failed and the webhook too, with the reason', async () => {
    const { hook, id } = await failed()
    const { status, status_reason } = await webhook(call, hook.id)
    assert.equal(status, 'failed')
    assert.match(String(status_reason), new RegExp(id))
    assert.match(String(status_reason), /500/)
    assert.equal((await delivery(call, id)).status, 'failed')
  })

  test('new events are still sent to a failed webhook, and the first success makes it active', async () => {
    const { hook } = await failed()
    await company(call, 'Still down')
    const second = await until(
      () => log(call),
      (all) => all.length === 2 && all[0]?.attempt_count === 1,
    )
    assert.deepEqual([second[0]?.status, (await webhook(call, hook.id)).status], ['pending', 'failed'])
    receiver.answering = () => ({ status: 204 })
    await company(call, 'Up again')
    const up = await until(
      () => webhook(call, hook.id),
      ({ status }) => status !== 'failed',
    )
    assert.deepEqual([up.status, up.status_reason], ['active', null])
    // Its success came first: the one that waits is still retried when its time comes.
    await turn(60_000)
    assert.equal((await attempted(call, String(second[0]?.id), 2)).status, 'succeeded')
  })

  test('a success on a retry ends the delivery and leaves the webhook active', async () => {
    receiver.answering = (_request, number) => ({ status: number === 3 ? 200 : 500 })
    const { hook, id } = await begun()
    await turn(60_000)
    await attempted(call, id, 2)
    await turn(300_000)
    const { status, attempt_count, next_attempt_at, finished_at } = await attempted(call, id, 3)
    assert.deepEqual([status, attempt_count, next_attempt_at], ['succeeded', 3, null])
    assert.equal(finished_at, at(clock.now()))
    assert.equal((await webhook(call, hook.id)).status, 'active')
    await turn(3_600_000)
    assert.equal(receiver.received.length, 3)
  })

  test('a retry goes to the address that the webhook has by then', async () => {
    const { hook, id } = await begun()
    await call('PUT', `/api/v1/webhooks/${hook.id}`, { url: `${receiver.url}/moved` })
    await turn(60_000)
    const { attempts } = await attempted(call, id, 2)
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/hook', '/hook/moved'],
    )
    assert.deepEqual(
      attempts.map(({ request }) => request.url),
      [hook.url, `${receiver.url}/moved`],
    )
  })

  test('survive a restart: neither early nor lost, and the attempts before it count', async (t) => {
    const data_dir = scratchFolder(t)
    let service = await startRapport({ data_dir, clock })
    t.after(() => service.close())
    const { key } = service
    let here = service.call
    const restart = async (ms: number) => {
      await service.close()
      clock.advance(ms)
      service = await startRapport({ data_dir, clock })
      here = client(service.url, key)
      await pause(40)
    }
    const hook = await register(here, { url: receiver.url })
    await company(here)
    const { id } = await onlyDelivery(here, hook.id)
    await attempted(here, id)

    await restart(59_999)
    assert.equal((await delivery(here, id)).attempt_count, 1)
    clock.advance(1)
    service.wake()
    await attempted(here, id, 2)
    // Deliveries that became due while the service was down are sent at once.
    await restart(400_000)
    await attempted(here, id, 3)
    await restart(1_799_999)
    assert.equal((await delivery(here, id)).attempt_count, 3)
    clock.advance(1)
    service.wake()
    const { status, attempts } = await attempted(here, id, 4)
    assert.equal(status, 'failed')
    assert.deepEqual(
      attempts.map(({ number, error }) => [number, error?.code]),
      [1, 2, 3, 4].map((number) => [number, 'http_error']),
    )
    assert.equal((await webhook(here, hook.id)).status, 'failed')
    assert.equal(receiver.received.length, 4)
    assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
  })

  test('a clock that jumps far ahead during an attempt starts no second one', async () => {
    receiver.answering = () => ({ status: 200, delay_ms: 150 })
    const hook = await register(call, { url: receiver.url })
    await company(call)
    await receiver.waitFor(1)
    await turn(3_600_000)
    await turn(3_600_000)
    const { id } = await onlyDelivery(call, hook.id)
    const { status, attempts } = await attempted(call, id)
    assert.deepEqual([status, attempts.length, receiver.received.length], ['succeeded', 1, 1])
  })
})
