import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settingsOf } from '../test/engine.ts'
import { startRapport } from '../test/harness.ts'
import { scratchFolder } from '../test/process.ts'
import { startReceiver } from '../test/receiver.ts'
import { act, company, register, total } from '../test/webhooks.ts'
import { readConfig } from './config.ts'
import { startServer } from './server.ts'

test('a start that fails leaves nothing open, and no key that nobody saw', async (t) => {
  const found = await settingsOf(scratchFolder(t))
  const config = (env: Record<string, string> = {}) =>
    readConfig({ PORT: '0', ...found, LOG_LEVEL: 'silent', ...env })
  await assert.rejects(startServer(config({ HOST: '203.0.113.1' })), /EADDRNOTAVAIL/)
  const running = await startServer(config())
  assert.match(running.first_key ?? '', /^crm_/)
  // Both callers of stop wait for the same end.
  await Promise.all([running.stop(), running.stop()])
  const again = await startServer(config())
  assert.equal(again.first_key, null)
  await again.stop()
})

test('a process without the dispatcher role sends pings, and nothing else, not even after one', async (t) => {
  const receiver = await startReceiver()
  const api = await startRapport({ roles: ['api'] })
  t.after(async () => {
    await api.close()
    await receiver.close()
  })
  const { id } = await register(api.call, { url: receiver.url })
  await company(api.call)
  assert.equal((await act(api.call, id, 'test')).status, 'succeeded')
  await company(api.call)
  // Longer than any look at the queue would take to come.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['x-service-event']),
    ['ping'],
  )
  assert.equal(await total(api.call, 'status=pending'), 2)
})

test('a process without the api role delivers what others made, and answers for its health alone', async (t) => {
  const receiver = await startReceiver()
  const data_dir = scratchFolder(t)
  const api = await startRapport({ roles: ['api'], data_dir })
  const { id } = await register(api.call, { url: receiver.url })
  await company(api.call)
  const { key } = api
  await api.close()
  const dispatcher = await startRapport({ roles: ['dispatcher'], data_dir })
  t.after(async () => {
    await dispatcher.close()
    await receiver.close()
  })
  await receiver.waitFor(1)
  for (const [path, status] of [
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/api/v1/companies', 404],
    [`/api/v1/webhooks/${id}`, 404],
  ] as const)
    assert.equal(
      (await fetch(dispatcher.url + path, { headers: { authorization: `Bearer ${key}` } })).status,
      status,
      path,
    )
})
