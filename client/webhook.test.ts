// runs: once
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Rapport as Service, startRapport } from '../test/harness.ts'
import { type Received, startReceiver } from '../test/receiver.ts'
import { installClient } from './package.ts'

let installed: Awaited<ReturnType<typeof installClient>>
let service: Service
let receiver: Awaited<ReturnType<typeof startReceiver>>
let api: typeof installed.module
let client: ReturnType<typeof installed.module.createClient>

before(async () => {
  installed = await installClient()
  api = installed.module
  service = await startRapport()
  receiver = await startReceiver()
  client = api.createClient({ url: service.url, key: service.key })
})
after(async () => {
  await service.close()
  await receiver.close()
  installed.remove()
})

/** A delivery of a new webhook: a contact with characters of several bytes. */
async function delivered(secret?: string) {
  const events: ['contact.created'] = ['contact.created']
  const webhook = await client.webhooks.create({ url: receiver.url, events, ...(secret && { secret }) })
  const count = receiver.received.length
  await client.contacts.create({ first_name: 'Zoë 🚲', last_name: 'Škoda' })
  const mine = await receiver.waitFor((all) => all.length > count)
  await client.webhooks.pause(webhook.id)
  return { webhook, request: mine.at(-1) as Received }
}

const refused = (code: string) => (error: unknown) => {
  assert.ok(error instanceof api.WebhookError)
  assert.equal(error.code, code)
  return true
}

for (const [kind, given] of [
  ['a generated secret', undefined],
  ['an own secret', 'a secret with spaces, of 34 letters'],
] as const)
  test(`a delivery with ${kind} is verified, from headers of Node and of fetch`, async () => {
    const { webhook, request } = await delivered(given)
    const { headers, body } = request
    const event = await api.verifyWebhook(headers, body, webhook.secret)
    assert.ok(event.event === 'contact.created')
    assert.equal(event.data.first_name, 'Zoë 🚲')
    assert.equal(event.webhook_id, webhook.id)
    const bytes = new TextEncoder().encode(body)
    const fetched = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    assert.deepEqual(await api.verifyWebhook(fetched, bytes, ['another secret', webhook.secret]), event)
    assert.deepEqual(await api.verifyWebhook(fetched, bytes.buffer, webhook.secret), event)
  })

test('headers of any class that has get are read', async () => {
  const { webhook, request } = await delivered()
  // As frameworks and polyfills have it: not the Headers of this realm.
  class OtherHeaders {
    get(name: string) {
      return (request.headers[name.toLowerCase()] as string | undefined) ?? null
    }
  }
  const event = await api.verifyWebhook(new OtherHeaders() as never, request.body, webhook.secret)
  assert.equal(event.id, JSON.parse(request.body).id)
})

test('a changed body, another secret, a changed header and an old request are refused', async () => {
  const { webhook, request } = await delivered()
  const { headers, body } = request
  const { secret } = webhook
  const verify = api.verifyWebhook
  await assert.rejects(verify(headers, body.replace('Zoë', 'Zoe'), secret), refused('invalid_signature'))
  await assert.rejects(verify(headers, body, 'another secret'), refused('invalid_signature'))
  const other_id = { ...headers, 'webhook-id': 'dlv_other' }
  await assert.rejects(verify(other_id, body, secret), refused('invalid_signature'))
  const cut = { ...headers, 'webhook-signature': 'v1,%%%' }
  await assert.rejects(verify(cut, body, secret), refused('invalid_signature'))

  const sent_ms = Number(headers['webhook-timestamp']) * 1000
  const at = (seconds: number) => ({ now: () => sent_ms + seconds * 1000 })
  await verify(headers, body, secret, at(299))
  await assert.rejects(verify(headers, body, secret, at(301)), refused('invalid_timestamp'))
  await assert.rejects(verify(headers, body, secret, at(-301)), refused('invalid_timestamp'))
  const later = { ...headers, 'webhook-timestamp': String(sent_ms / 1000 + 600) }
  await assert.rejects(verify(later, body, secret, at(600)), refused('invalid_signature'))
  await assert.rejects(verify(headers, body, []), TypeError)
  await assert.rejects(verify(headers, body, 'whsec_'), TypeError)
})

test('X-Service-Signature alone is accepted only by wish, because it signs no time', async () => {
  const { webhook, request } = await delivered()
  const { 'webhook-signature': _, ...headers } = request.headers
  const { secret } = webhook
  await assert.rejects(api.verifyWebhook(headers, request.body, secret), refused('missing_signature'))
  const options = { require_timestamp: false }
  assert.ok(await api.verifyWebhook(headers, request.body, secret, options))
  const wrong = api.verifyWebhook(headers, `${request.body} `, secret, options)
  await assert.rejects(wrong, refused('invalid_signature'))
  await assert.rejects(api.verifyWebhook({}, request.body, secret, options), refused('missing_signature'))
})

test('during a rotation, the old secret, the new one and both of them verify, in both kinds of signatures', async () => {
  const { webhook } = await delivered()
  const { secret } = await client.webhooks.rotateSecret(webhook.id)
  await client.webhooks.resume(webhook.id)
  const count = receiver.received.length
  const ping = await client.webhooks.test(webhook.id)
  assert.equal(ping.status, 'succeeded')
  const { headers, body } = receiver.received[count] as Received
  const { 'webhook-signature': _, ...without } = headers
  for (const known of [webhook.secret, secret, [webhook.secret, secret]]) {
    const event = await api.verifyWebhook(headers, body, known)
    assert.ok(event.event === 'ping')
    assert.match(event.data.message, /test/)
    assert.ok(await api.verifyWebhook(without, body, known, { require_timestamp: false }))
  }
})
