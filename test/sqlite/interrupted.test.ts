import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startService } from '../faults/service.ts'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { attempted, company, delivery, log, onlyDelivery, register, webhook } from '../webhooks.ts'

let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
})
after(() => receiver.close())

// One process serves a data folder. So the next start knows that the owner of each lease has ended, and does not wait
// for the end of the lease.
test('an attempt that kill -9 interrupts is listed as interrupted, and does not count as an attempt or a try', async (t) => {
  const env = { WEBHOOK_RETRY_DELAYS: '0.05' }
  const data_dir = scratchFolder(t)
  let service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  const { key } = service
  const restart = async () => {
    await service.end('SIGKILL')
    service = await startService(data_dir, { env, key })
  }
  receiver.answering = () => 'hang'
  const hook = await register(service.call, { url: receiver.url })
  await company(service.call)
  await receiver.waitFor(1)
  await restart()
  await receiver.waitFor(2)
  const { id } = await onlyDelivery(service.call, hook.id)
  const waiting = await delivery(service.call, id)
  assert.deepEqual([waiting.status, waiting.attempt_count, waiting.attempts.length], ['pending', 0, 1])
  receiver.answering = () => ({ status: 500 })
  await restart()

  // One attempt and one retry: as many as without the two kills.
  const { status, attempt_count, attempts } = await attempted(service.call, id, 2)
  assert.deepEqual([status, attempt_count], ['failed', 2])
  assert.deepEqual(
    attempts.map(({ number, error }) => [number, error?.code]),
    [
      [1, 'interrupted'],
      [2, 'interrupted'],
      [3, 'http_error'],
      [4, 'http_error'],
    ],
  )
  for (const { response, duration_ms, request } of attempts.slice(0, 2)) {
    assert.equal(response, null)
    assert.ok(duration_ms >= 0)
    assert.equal(request.url, receiver.url)
  }
  assert.equal(receiver.received.length, 4)
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1)
  assert.equal((await webhook(service.call, hook.id)).status, 'failed')
  assert.equal((await log(service.call)).length, 1)
})
