import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { newWorkspace } from '../database.ts'
import { turnableClock, useRapport } from '../harness.ts'
import { type Received, useReceiver, verifySignatures } from '../receiver.ts'
import { act, attempted, type Call, onlyDelivery, register, type Webhook, webhook } from '../webhooks.ts'

// Near the real time, which the verifying library compares timestamps with.
const clock = turnableClock(Date.now())
const receiver = useReceiver()
const rapport = useRapport({ clock })
let call: Call
beforeEach(async () => {
  call = await newWorkspace(rapport)
})

const rotate = (id: string, body?: object): Promise<Webhook> => act(call, id, 'rotate-secret', body)

/** A request to the webhook, made now. */
async function sent(id: string): Promise<Received> {
  await act(call, id, 'test')
  return receiver.received.at(-1) as Received
}
const signatures = ({ headers }: Received) => String(headers['webhook-signature']).split(' ').length
const all = { service: true, service_next: false, standard: true }
const none = { service: false, service_next: false, standard: false }

test('during the overlap, receivers with the old and with the new secret verify; then only those with the new one', async () => {
  const hook = await register(call, { url: receiver.url })
  const before = await sent(hook.id)
  assert.deepEqual(await verifySignatures(hook.secret, before), all)
  assert.equal(before.headers['x-service-signature-next'], undefined)

  const { secret, ...shown } = await rotate(hook.id, { overlap_hours: 0.01 })
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.notEqual(secret, hook.secret)
  assert.deepEqual(shown, await webhook(call, hook.id))
  assert.equal(shown.rotation_ends_at, new Date(clock.now() + 36_000).toISOString())

  const overlap = await sent(hook.id)
  assert.equal(signatures(overlap), 2)
  assert.deepEqual(await verifySignatures(hook.secret, overlap), all)
  assert.deepEqual(await verifySignatures(secret, overlap), { ...all, service: false, service_next: true })

  clock.advance(35_999)
  assert.deepEqual(await verifySignatures(hook.secret, await sent(hook.id)), all)
  clock.advance(1)
  const after = await sent(hook.id)
  assert.equal(signatures(after), 1)
  assert.equal(after.headers['x-service-signature-next'], undefined)
  assert.deepEqual(await verifySignatures(secret, after), all)
  assert.deepEqual(await verifySignatures(hook.secret, after), none)
})

test('an overlap of 0 changes over at once', async () => {
  const hook = await register(call, { url: receiver.url })
  const { secret, rotation_ends_at } = await rotate(hook.id, { overlap_hours: 0 })
  assert.equal(rotation_ends_at, null)
  const request = await sent(hook.id)
  assert.equal(signatures(request), 1)
  assert.deepEqual(await verifySignatures(secret, request), all)
  assert.deepEqual(await verifySignatures(hook.secret, request), none)
})

test('a rotation inside an overlap: the newest two secrets sign', async () => {
  const hook = await register(call, { url: receiver.url })
  const second = await rotate(hook.id, { overlap_hours: 0.01 })
  const third = await rotate(hook.id, { overlap_hours: 0.01 })
  const request = await sent(hook.id)
  assert.equal(signatures(request), 2)
  assert.deepEqual(await verifySignatures(hook.secret, request), none)
  assert.deepEqual(await verifySignatures(second.secret, request), all)
  assert.deepEqual(await verifySignatures(third.secret, request), {
    ...all,
    service: false,
    service_next: true,
  })
  clock.advance(36_000)
  const alone = await sent(hook.id)
  assert.deepEqual(await verifySignatures(third.secret, alone), all)
  assert.deepEqual(await verifySignatures(second.secret, alone), none)
  // After an overlap the next one is between the secret that signed alone and the new one.
  const fourth = await rotate(hook.id)
  const last = await sent(hook.id)
  assert.deepEqual(await verifySignatures(third.secret, last), all)
  assert.equal((await verifySignatures(fourth.secret, last)).service_next, true)
})

test('the overlap is 24 hours unless given, and 0 to 168 hours', async () => {
  const hook = await register(call, { url: receiver.url })
  const after = (hours: number) => new Date(clock.now() + hours * 3600 * 1000).toISOString()
  for (const [body, hours] of [
    [undefined, 24],
    [{}, 24],
    [{ overlap_hours: null }, 24],
    [{ overlap_hours: 168 }, 168],
    [{ overlap_hours: 1 }, 1],
  ] as const)
    assert.equal((await rotate(hook.id, body)).rotation_ends_at, after(hours))
  for (const overlap_hours of [-1, 168.1, 169, '24', true]) {
    const reply = await call('POST', `/api/v1/webhooks/${hook.id}/rotate-secret`, { overlap_hours })
    assert.equal(reply.status, 422, String(overlap_hours))
    assert.equal(reply.body.error.fields[0].field, 'overlap_hours')
  }
})

test('the new secret may be given, by the rules of registration', async () => {
  const hook = await register(call, { url: receiver.url })
  for (const secret of ['another plain secret', 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=']) {
    assert.equal((await rotate(hook.id, { secret, overlap_hours: 0 })).secret, secret)
    assert.deepEqual(await verifySignatures(secret, await sent(hook.id)), all)
  }
  for (const secret of ['short', 'whsec_not base64 at all', 'x'.repeat(256), 16]) {
    const reply = await call('POST', `/api/v1/webhooks/${hook.id}/rotate-secret`, { secret })
    assert.equal(reply.status, 422)
    assert.equal(reply.body.error.fields[0].field, 'secret')
  }
  const request = await sent(hook.id)
  assert.deepEqual(await verifySignatures('whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=', request), all)
})

test('a retry is signed with the secrets of its own time, over the same body', async () => {
  receiver.answering = ({ headers }) => ({ status: headers['x-service-event'] === 'ping' ? 200 : 500 })
  const hook = await register(call, { url: receiver.url })
  const first = receiver.received.length
  await call('POST', '/api/v1/companies', { name: 'Acme' })
  await attempted(call, (await onlyDelivery(call, hook.id)).id)
  const { secret } = await rotate(hook.id, { overlap_hours: 0 })
  clock.advance(60_000)
  rapport.wake()
  const [before, after] = (await receiver.waitFor(first + 2)).slice(first)
  assert.ok(before && after)
  assert.equal(after.body, before.body)
  assert.deepEqual(await verifySignatures(hook.secret, before), all)
  assert.deepEqual(await verifySignatures(secret, after), all)
})
