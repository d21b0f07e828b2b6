// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { client, startRapport } from '../harness.ts'
import { scratchFolder } from '../process.ts'
import { startReceiver } from '../receiver.ts'
import { useFor } from '../use.ts'
import { act, register } from '../webhooks.ts'

// With a proxy on the same machine, strangers have access. The test of a webhook would show them the answers of
// internal services.
const proxied: Record<string, string>[] = [
  { TRUSTED_PROXIES: '127.0.0.0/8' },
  { PUBLIC_URL: 'https://crm.example.com' },
]

test('behind a proxy on this machine no webhook reaches an inner service, and no test shows its answer', async (t) => {
  const inner = await useFor(t, startReceiver({ answer: { body: 'the inner secret' } }))
  for (const env of proxied) {
    const data_dir = scratchFolder(t)
    const before = await startRapport({ data_dir })
    const { id } = await register(before.call, { url: inner.url })
    assert.match((await act(before.call, id, 'test')).attempts[0].response.body, /inner secret/)
    await before.close()

    const rapport = await startRapport({ data_dir, env })
    t.after(() => rapport.close())
    const call = client(rapport.url, before.key)
    const reached = inner.received.length
    const { attempts } = await act(call, id, 'test')
    assert.deepEqual([attempts[0].response, attempts[0].error.code], [null, 'address_blocked'])
    assert.match(attempts[0].error.message, /WEBHOOK_ALLOWED_NETWORKS/)
    for (const url of [
      inner.url,
      'http://localhost/',
      'http://[::1]/',
      'http://10.0.0.1/',
      'http://[fd12::1]/',
    ]) {
      const reply = await call('POST', '/api/v1/webhooks', { url, events: ['deal.won'] })
      assert.equal(reply.status, 422, url)
      const [{ field, code, message }] = reply.body.error.fields
      assert.deepEqual([field, code], ['url', 'url_not_allowed'])
      assert.match(message, /WEBHOOK_ALLOWED_NETWORKS/)
    }
    assert.equal(inner.received.length, reached)
  }
})

test('behind a proxy on this machine WEBHOOK_ALLOWED_NETWORKS still allows its networks', async (t) => {
  const inner = await useFor(t, startReceiver())
  for (const env of proxied) {
    const rapport = await startRapport({ env: { ...env, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32' } })
    t.after(() => rapport.close())
    const { id } = await register(rapport.call, { url: inner.url })
    assert.equal((await act(rapport.call, id, 'test')).status, 'succeeded')
  }
})

test('on loopback, when WEBHOOK_ALLOWED_NETWORKS is set, exactly its networks are allowed', async (t) => {
  const rapport = await startRapport({ env: { WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16' } })
  t.after(() => rapport.close())
  await register(rapport.call, { url: 'http://10.1.2.3/' })
  for (const url of ['http://127.0.0.1/', 'http://10.2.0.1/']) {
    const reply = await rapport.call('POST', '/api/v1/webhooks', { url, events: ['deal.won'] })
    assert.deepEqual([reply.status, reply.body.error.fields?.[0].code], [422, 'url_not_allowed'], url)
  }
})
