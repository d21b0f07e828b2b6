import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { scratchFolder } from '../process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { attempted, company, onlyDelivery, register } from '../webhooks.ts'
import { startService } from './service.ts'

let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
})
after(() => receiver.close())

test('a retry that waited when the process was killed comes at its time, not before', async (t) => {
  const env = { WEBHOOK_RETRY_DELAYS: '1' }
  const data_dir = scratchFolder(t)
  let service = await startService(data_dir, { env })
  t.after(() => service.end('SIGKILL'))
  receiver.received.length = 0
  receiver.answering = (_request, number) => ({ status: number === 1 ? 500 : 200 })
  const hook = await register(service.call, { url: receiver.url })
  await company(service.call)
  const { id } = await onlyDelivery(service.call, hook.id)
  const { next_attempt_at } = await attempted(service.call, id)
  await service.end('SIGKILL')
  service = await startService(data_dir, { env, key: service.key })
  await receiver.waitFor(2)
  const { status, attempts } = await attempted(service.call, id, 2)
  assert.deepEqual([status, attempts.length], ['succeeded', 2])
  // Both times are by the clock of the database, which each process reads for itself: they differ by some milliseconds.
  const early_ms = Date.parse(String(next_attempt_at)) - Date.parse(String(attempts[1]?.started_at))
  assert.ok(early_ms < 200, `${early_ms} ms early`)
})
