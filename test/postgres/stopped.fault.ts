import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report } from '../faults/report.ts'
import { startService } from '../faults/service.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { attempted, company, delivery, onlyDelivery, register, until } from '../webhooks.ts'

test('a process that is stopped past its lease and goes on changes nothing: the new owner stands', async (t) => {
  const data_dir = scratchFolder(t)
  const env = { WEBHOOK_TIMEOUT_MS: '1000', WEBHOOK_RETRY_DELAYS: '600' }
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const stopped = await startService(data_dir, { env })
  t.after(() => stopped.end('SIGKILL'))
  const held = Promise.withResolvers<void>()
  receiver.answering = (_request, number) => {
    if (number > 1) return {}
    process.kill(stopped.pid, 'SIGSTOP')
    // The answer that the stopped process would take for a failure, once it goes on.
    return { status: 500, after: held.promise }
  }
  const hook = await register(stopped.call, { url: receiver.url })
  // Stopped before it can answer: the request of the change may get no answer either.
  const change = company(stopped.call).catch(() => null)
  await receiver.waitFor(1, 30_000)

  const owner = await startService(data_dir, { env, key: stopped.key })
  t.after(() => owner.end('SIGKILL'))
  const { id } = await onlyDelivery(owner.call, hook.id)
  const before = performance.now()
  const done = await attempted(owner.call, id, 1, 60_000)
  const waited_s = Math.round((performance.now() - before) / 1000)
  const outcome = (one: typeof done) => [
    one.status,
    one.attempt_count,
    one.attempts.map(({ error }) => error?.code ?? null),
  ]
  assert.deepEqual(outcome(done), ['succeeded', 1, ['interrupted', null]])

  held.resolve()
  process.kill(stopped.pid, 'SIGCONT')
  await change
  // It answers again, and has written down what it could of its late outcome.
  await until(
    async () => (await stopped.call('GET', `/api/v1/webhooks/${hook.id}`)).status,
    (status) => status === 200,
  )
  await until(
    async () => (await stopped.call('GET', '/metrics')).text,
    (text) => /^rapport_deliveries_in_flight 0$/m.test(text),
  )
  assert.equal(await stopped.end('SIGTERM'), 0)
  assert.deepEqual(outcome(await delivery(owner.call, id)), ['succeeded', 1, ['interrupted', null]])
  assert.equal(receiver.received.length, 2)
  report({ fault: 24, figures: `taken over after ${waited_s} s`, events: 1, lost: 0 })
})
