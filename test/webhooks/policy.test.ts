import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newWorkspace } from '../database.ts'
import { startRapport, turnableClock, useRapport } from '../harness.ts'
import { startReceiver, useReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { attempted, company, log, onlyDelivery, register, until, webhook } from '../webhooks.ts'

const clock = turnableClock()
const receiver = useReceiver()
const rapport = useRapport({ clock })
afterEach(() => {
  receiver.received.length = 0
  receiver.answering = () => ({})
})

const path = '/api/v1/webhooks'

async function turn(ms: number) {
  clock.advance(ms)
  rapport.wake()
  await pause(40)
}

test('a webhook shows its policy, a PUT changes it, and null is the policy of the installation', async () => {
  const call = await newWorkspace(rapport)
  const none = { retry_delays: null, timeout_ms: null, max_per_second: null }
  const policy = { retry_delays: [5, 5, 604_800], timeout_ms: 1000, max_per_second: 1000 }
  const plain = await webhook(call, (await register(call, { url: receiver.url })).id)
  assert.deepEqual({ ...plain, ...none }, plain)
  const own = await webhook(call, (await register(call, { url: receiver.url, ...policy })).id)
  assert.deepEqual({ ...own, ...policy }, own)
  const put = await call('PUT', `${path}/${own.id}`, { ...own, retry_delays: [], timeout_ms: null })
  assert.deepEqual(put.body.data, { ...own, retry_delays: [], timeout_ms: null })
  const again = await call('PUT', `${path}/${own.id}`, put.body.data)
  assert.equal(again.headers.get('etag'), put.headers.get('etag'))
})

test('a policy out of its limits is 422 and names the field', async () => {
  const call = await newWorkspace(rapport)
  for (const [body, field] of [
    [{ retry_delays: [0] }, 'retry_delays.0 out_of_range'],
    [{ retry_delays: [604_801] }, 'retry_delays.0 out_of_range'],
    [{ retry_delays: [1.5] }, 'retry_delays.0 invalid_type'],
    [{ retry_delays: ['60'] }, 'retry_delays.0 invalid_type'],
    [{ retry_delays: Array(21).fill(1) }, 'retry_delays too_many'],
    [{ retry_delays: 60 }, 'retry_delays invalid_type'],
    [{ timeout_ms: 999 }, 'timeout_ms out_of_range'],
    [{ timeout_ms: 30_001 }, 'timeout_ms out_of_range'],
    [{ max_per_second: 0 }, 'max_per_second out_of_range'],
    [{ max_per_second: 1001 }, 'max_per_second out_of_range'],
    [{ max_per_second: '5' }, 'max_per_second invalid_type'],
  ] as const) {
    const { status, body: answer } = await call('POST', path, {
      url: receiver.url,
      events: ['deal.won'],
      ...body,
    })
    assert.equal(status, 422, JSON.stringify(body))
    const [problem] = answer.error.fields
    assert.equal(`${problem.field} ${problem.code}`, field)
  }
})

test('retries follow the delays of the webhook, equal ones too, and then the delivery fails', async () => {
  const call = await newWorkspace(rapport)
  receiver.answering = () => ({ status: 500 })
  const { id } = await register(call, { url: receiver.url, retry_delays: [2, 2] })
  await company(call)
  const delivery = await onlyDelivery(call, id)
  for (const count of [1, 2]) {
    await attempted(call, delivery.id, count)
    await turn(1999)
    assert.equal(receiver.received.length, count)
    await turn(1)
  }
  const { status, attempt_count } = await attempted(call, delivery.id, 3)
  assert.deepEqual([status, attempt_count], ['failed', 3])
})

test('an empty list of delays is one attempt', async () => {
  const call = await newWorkspace(rapport)
  receiver.answering = () => ({ status: 503 })
  const { id } = await register(call, { url: receiver.url, retry_delays: [] })
  await company(call)
  assert.equal((await attempted(call, (await onlyDelivery(call, id)).id)).status, 'failed')
  assert.match(String((await webhook(call, id)).status_reason), /after 1 attempt:/)
})

test('an attempt ends at the timeout of its webhook, shorter or longer than that of the installation', async (t) => {
  const strict = await startRapport({ env: { WEBHOOK_TIMEOUT_MS: '1200', WEBHOOK_RETRY_DELAYS: 'none' } })
  t.after(() => strict.close())
  receiver.answering = () => ({ delay_ms: 1600 })
  const hooks = await Promise.all(
    [1000, null, 30_000].map((timeout_ms) => register(strict.call, { url: receiver.url, timeout_ms })),
  )
  await company(strict.call)
  const outcomes = await Promise.all(
    hooks.map(async ({ id }) => {
      const { status, attempts } = await attempted(strict.call, (await onlyDelivery(strict.call, id)).id)
      return [status, attempts[0]?.error?.message ?? null]
    }),
  )
  assert.deepEqual(outcomes, [
    ['failed', 'No answer within 1000 ms.'],
    ['failed', 'No answer within 1200 ms.'],
    ['succeeded', null],
  ])
})

test('no attempt arrives before max_per_second allows it, and the other webhooks do not wait', async (t) => {
  const quick = await startRapport()
  t.after(() => quick.close())
  const other = await useFor(t, startReceiver())
  await register(quick.call, { url: receiver.url, max_per_second: 10 })
  await register(quick.call, { url: other.url })
  const items = Array.from({ length: 30 }, (_, n) => ({ op: 'create', data: { name: `Acme ${n}` } }))
  const posted_ms = Date.now()
  await quick.call('POST', '/api/v1/companies/batch', { items })
  const [others, paced] = await Promise.all([other.waitFor(30), receiver.waitFor(30)])
  const times = paced.map(({ at_ms }) => at_ms)
  assert.ok((others.at(-1)?.at_ms ?? 0) < (times.at(-1) ?? 0))
  // A busy machine may delay attempts, so some of one second may arrive in the next one. None comes early.
  const early = times.toSorted((a, b) => a - b).filter((at, n) => at - posted_ms < Math.floor(n / 10) * 1000)
  assert.deepEqual(early, [])
  await until(
    () => log(quick.call, 'status=succeeded&per_page=100'),
    ({ length }) => length === 60,
  )
})
