import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSeed, seedDeliveries } from '../backlog.ts'
import { readStored } from '../database.ts'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { act, register, total, until } from '../webhooks.ts'
import { type Service, startService } from './service.ts'

const count = 200_000
const limit_ms = 300_000

let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
})
after(() => receiver.close())

type Fields = { status: 'pending' | 'failed'; run_at_ms?: number }

/** A service of its own process, whose one webhook has 200,000 deliveries. */
async function backlogged(t: Parameters<typeof scratchFolder>[0], fields: Fields) {
  const data_dir = scratchFolder(t)
  const first = await startService(data_dir)
  const { id } = await register(first.call, { url: receiver.url })
  await first.end('SIGTERM')
  const seed = await openSeed(data_dir)
  await seedDeliveries(seed, { webhook_id: id, count, ...fields })
  await seed.close()
  return { data_dir, id, service: await startService(data_dir, { key: first.key }) }
}

/** The longest wait for an answer of /healthz in milliseconds, while work is done. */
async function longestWait({ call }: Service, work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let working = true
  async function probe() {
    while (working) {
      const from = performance.now()
      await call('GET', '/healthz')
      longest = Math.max(longest, performance.now() - from)
    }
  }
  const probing = probe()
  await work().finally(() => {
    working = false
  })
  await probing
  return longest
}

// How long the same wait is when nothing happens: the machine may be busy with something else.
const idle = (service: Service) =>
  longestWait(service, () => new Promise((resolve) => setTimeout(resolve, 2000)))

async function waiting(data_dir: string): Promise<number> {
  const stored = await readStored(data_dir)
  const [row] = await stored.rows('SELECT count(*) AS n FROM webhook_queue')
  await stored.close()
  return Number(row?.n)
}

test('a webhook with 200,000 pending deliveries is deleted at once, and kill -9 in the middle leaves nothing pending', {
  timeout: limit_ms,
}, async (t) => {
  const { data_dir, id, service } = await backlogged(t, { status: 'pending', run_at_ms: 4e12 })
  const idle_ms = await idle(service)
  let answer_ms = 0
  const wait_ms = await longestWait(service, async () => {
    const from = performance.now()
    assert.equal((await service.call('DELETE', `/api/v1/webhooks/${id}`)).status, 200)
    answer_ms = performance.now() - from
  })
  t.diagnostic(
    `answered after ${answer_ms.toFixed()} ms; longest wait ${wait_ms.toFixed()} ms, idle ${idle_ms.toFixed()} ms`,
  )
  assert.ok(answer_ms < 100 + 20 * idle_ms, `${answer_ms} ms`)
  assert.ok(wait_ms < 100 + 5 * idle_ms, `${wait_ms} ms`)
  const totals = async ({ call }: Service) => [
    await total(call, 'status=pending'),
    await total(call, 'status=cancelled'),
    await total(call, `webhook_id=${id}&status=cancelled`),
  ]
  assert.deepEqual(await totals(service), [0, count, count])
  await until(
    () => waiting(data_dir),
    (n) => n < count - 2000,
  )
  await service.end('SIGKILL')
  assert.ok((await waiting(data_dir)) > 0, 'the kill came in the middle')

  const again = await startService(data_dir, { key: service.key })
  t.after(() => again.end('SIGKILL'))
  const background_ms = await longestWait(again, () =>
    until(
      () => waiting(data_dir),
      (n) => n === 0,
      limit_ms,
    ),
  )
  t.diagnostic(`longest wait beside the cancelling ${background_ms.toFixed()} ms`)
  assert.ok(background_ms < 100 + 10 * idle_ms, `${background_ms} ms`)
  assert.deepEqual(await totals(again), [0, count, count])
  assert.equal(receiver.received.length, 0)
})

test('200,000 failed deliveries are promised at once, and kill -9 in the middle neither loses nor doubles one', {
  timeout: limit_ms,
}, async (t) => {
  const { data_dir, id, service } = await backlogged(t, { status: 'failed' })
  const idle_ms = await idle(service)
  let answer_ms = 0
  const wait_ms = await longestWait(service, async () => {
    const from = performance.now()
    const [one, two] = await Promise.all([1, 2].map(() => act(service.call, id, 'resend-failed')))
    assert.equal(one.count + two.count, count)
    answer_ms = performance.now() - from
  })
  t.diagnostic(
    `answered after ${answer_ms.toFixed()} ms; longest wait ${wait_ms.toFixed()} ms, idle ${idle_ms.toFixed()} ms`,
  )
  assert.ok(wait_ms < 100 + 5 * idle_ms, `${wait_ms} ms`)
  // What is sent meanwhile would be another test: here it is kept.
  await act(service.call, id, 'pause')
  await until(
    () => waiting(data_dir),
    (n) => n > 2000,
  )
  await service.end('SIGKILL')
  assert.ok((await waiting(data_dir)) < count, 'the kill came in the middle')

  const again = await startService(data_dir, { key: service.key })
  t.after(() => again.end('SIGKILL'))
  const stored = await readStored(data_dir)
  t.after(() => stored.close())
  await until(
    () => stored.rows('SELECT first_id FROM webhook_resends LIMIT 1'),
    (left) => left.length === 0,
    limit_ms,
  )
  const [row] = await stored.rows(
    "SELECT count(*) AS n FROM webhook_deliveries d WHERE status = 'pending' AND EXISTS (SELECT 1 FROM webhook_queue q WHERE q.workspace_id = d.workspace_id AND q.delivery_id = d.id)",
  )
  const sent = await total(again.call, 'status=succeeded')
  assert.equal(Number(row?.n) + sent, count)
  assert.equal(await total(again.call, 'status=pending'), count - sent)
  assert.equal(await total(again.call, 'status=failed'), 0)
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, sent)
})
