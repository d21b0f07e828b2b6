import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { openSeed, seedDeliveries } from '../backlog.ts'
import { readStored } from '../database.ts'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { act, register, total, until } from '../webhooks.ts'
import { limitBeside, startIdle, tellNoise, waitsDuring } from './idle.ts'
import { report } from './report.ts'
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
async function backlogged(t: TestContext, fields: Fields) {
  const data_dir = scratchFolder(t)
  const first = await startService(data_dir)
  const { id } = await register(first.call, { url: receiver.url })
  await first.end('SIGTERM')
  const seed = await openSeed(data_dir)
  await seedDeliveries(seed, { webhook_id: id, count, ...fields })
  await seed.close()
  const service = await startService(data_dir, { key: first.key })
  t.after(() => service.end('SIGKILL'))
  return { data_dir, id, service }
}

/**
 * Checks that work, such as a deletion, delays no other request by 100 ms. A request for the work is also answered in
 * that time.
 */
async function judgeWaits(
  t: TestContext,
  url: string,
  what: string,
  work: () => Promise<unknown>,
  at_once = false,
) {
  let took_ms = 0
  const { service, noise } = await waitsDuring(url, await startIdle(t), async () => {
    const from = performance.now()
    await work()
    took_ms = performance.now() - from
  })
  const figures = `${what} in ${took_ms.toFixed()} ms, health at most ${service.most_ms.toFixed()} ms; ${tellNoise(noise)}`
  t.diagnostic(figures)
  report({ fault: 28, figures })
  assert.ok(service.most_ms < limitBeside(100, noise), figures)
  assert.ok(!at_once || took_ms < limitBeside(100, noise), figures)
}

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
  const remove = async () =>
    assert.equal((await service.call('DELETE', `/api/v1/webhooks/${id}`)).status, 200)
  await judgeWaits(t, service.url, `${count} pending deleted`, remove, true)
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
  await judgeWaits(t, again.url, 'cancelled after a kill', () => until(() => waiting(data_dir), 0, limit_ms))
  assert.deepEqual(await totals(again), [0, count, count])
  assert.equal(receiver.received.length, 0)
})

test('a resend of 200,000 failed deliveries is accepted at once, and kill -9 during it neither loses nor doubles one', {
  timeout: limit_ms,
}, async (t) => {
  const { data_dir, id, service } = await backlogged(t, { status: 'failed' })
  await judgeWaits(t, service.url, `${count} promised twice at once`, async () => {
    const [one, two] = await Promise.all([1, 2].map(() => act(service.call, id, 'resend-failed')))
    assert.equal(one.count + two.count, count)
  })
  // Sends are not part of this test, so the deliveries wait.
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
    () => stored.rows('SELECT subject FROM work LIMIT 1'),
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
