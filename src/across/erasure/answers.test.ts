import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { readStored } from '../../../test/database.ts'
import { openScratch } from '../../../test/engine.ts'
import { dataOf } from '../../../test/envelope.ts'
import { type Rapport, startRapport, turnableClock } from '../../../test/harness.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { delivery, log, register, total, until } from '../../../test/webhooks.ts'
import { hasInterrupted } from '../../webhooks/delivery/interruptions.ts'

const day_ms = 24 * 3600 * 1000
const clock = turnableClock()
let rapport: Rapport
let receiver: Receiver
let call: Rapport['call']
beforeEach(async () => {
  rapport = await startRapport({ clock })
  call = rapport.call
  receiver = await startReceiver()
})
afterEach(async () => {
  await rapport.close()
  await receiver.close()
})

const ok = async (method: string, path: string, body?: object, headers?: Record<string, string>) =>
  dataOf(await call(method, `/api/v1${path}`, body, headers))
const settled = () => until(() => total(call, 'status=pending'), 0)
const person = { first_name: 'Zébuline', last_name: 'Quørndale', email: 'zq.private@quux.example' }
const times = (hour: number) => ({
  start_at: `2026-12-01T${hour}:00:00.000Z`,
  end_at: `2026-12-01T${hour}:30:00.000Z`,
})

test('what receivers answer to an attempt that was on its way at an erasure is not kept, and the delivery goes out as it is', async () => {
  let answer = () => {}
  const after = new Promise<void>((resolve) => {
    answer = resolve
  })
  receiver.answering = ({ body }, number) => ({
    status: 200,
    body,
    headers: { 'x-echo': encodeURI(body) },
    ...(number <= 2 && { after }),
  })
  const kept = await register(call, { url: receiver.url, events: ['contact.created'] })
  const dropped = await register(call, { url: receiver.url, events: ['contact.created'] })
  const { id } = await ok('POST', '/contacts', person)
  await receiver.waitFor(2)
  await ok('DELETE', `/webhooks/${dropped.id}`)
  await ok('DELETE', `/contacts/${id}`)
  await ok('DELETE', `/trash/contacts/${id}`)
  const database = await openScratch(rapport.data_dir)
  const after_a_crash = await hasInterrupted(database.db, clock.elapsed() + day_ms, new Set())
  await database.close()
  assert.equal(after_a_crash, false, 'no process takes its attempts one by one')
  answer()
  const [cancelled] = await until(
    () => log(call, 'status=cancelled'),
    ([one]) => one?.attempt_count === 1,
  )
  const { attempts } = await delivery(call, String(cancelled?.id))
  assert.deepEqual(attempts[0]?.response, { status: 200, headers: {}, body: '' })
  // Its owner has lost the lease, and the next one comes when it has run out.
  clock.advance(3600_000)
  rapport.wake()
  await settled()
  const [sent] = await log(call, `webhook_id=${kept.id}`)
  const again = await delivery(call, String(sent?.id))
  assert.deepEqual(
    again.attempts.map(({ error, response }) => error?.code ?? response?.status),
    ['interrupted', 200],
  )
  const [late] = receiver.received.slice(2)
  assert.deepEqual(
    [receiver.received.length, JSON.parse(late?.body ?? '').data.first_name, again.status],
    [3, null, 'succeeded'],
  )
  const stored = await readStored(rapport.data_dir)
  const rows = await stored.rows('SELECT response_headers, response_body FROM webhook_attempts')
  await stored.close()
  for (const trace of Object.values(person)) assert.ok(!JSON.stringify(rows).includes(trace), trace)
})

test('kept answers of an erased record of any kind go, and those that show deliveries, and no others', async () => {
  const hook = await register(call, { url: receiver.url, events: ['deal.created'] })
  const contact = await ok('POST', '/contacts', { first_name: 'Ana', last_name: 'Ruiz' })
  const secret = 'A secret'
  const keyed = (path: string, body: object, key: string) =>
    ok('POST', path, body, { 'idempotency-key': `${path} ${key}` })
  const made: string[] = []
  for (const [key, hour] of [
    ['erased', 10],
    ['kept', 12],
  ] as const)
    for (const [path, body] of [
      ['/booking-pages', { slug: key, title: secret, time_zone: 'UTC' }],
      [`/contacts/${contact.id}/notes`, { body: secret }],
      ['/companies', { name: secret }],
      ['/deals', { name: secret }],
      ['/activities', { type: 'task', subject: secret }],
      ['/appointments', { title: secret, ...times(hour) }],
    ] as const) {
      const { id } = await keyed(path, body, key)
      if (key === 'erased') made.push(`${path}/${id}`)
    }
  const [, , , deal, activity] = made
  await keyed(`${deal}/change-stage`, { stage: 'won' }, 'erased')
  await keyed(`${activity}/complete`, { outcome: 'A secret' }, 'erased')
  await settled()
  const [sent] = await log(call, `webhook_id=${hook.id}`)
  await keyed(`/deliveries/${sent?.id}/resend`, {}, 'erased')
  await keyed(`/webhooks/${hook.id}/test`, {}, 'erased')
  await settled()
  for (const path of made) {
    await ok('DELETE', path)
    const [kind, id] = path.replace('-', '_').split('/').slice(-2)
    await ok('DELETE', `/trash/${kind}/${id}`)
  }
  const stored = await readStored(rapport.data_dir)
  const left = await stored.rows('SELECT idempotency_key FROM idempotency_keys ORDER BY 1')
  await stored.close()
  assert.deepEqual(
    left.map(({ idempotency_key }) => idempotency_key),
    made.map((path) => `${path.slice(0, path.lastIndexOf('/'))} kept`).sort(),
  )
})
