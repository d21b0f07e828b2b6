// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../envelope.ts'
import { client, type Reply, startRapport, turnableClock } from '../harness.ts'
import { makeKey } from '../keys.ts'

const path = '/api/v1/companies'
const shown = ({ headers }: Reply) =>
  ['limit', 'remaining', 'reset', 'x'].map((name) => headers.get(`ratelimit-${name}`))

async function limited(per_second: number) {
  const clock = turnableClock()
  const rapport = await startRapport({ clock, env: { RATE_LIMIT_PER_SECOND: String(per_second) } })
  return { ...rapport, clock }
}

test('a burst of twice the rate is let through, then 429 with Retry-After; nothing of a refused request is done', async (t) => {
  const { call, clock, close } = await limited(5)
  t.after(close)
  for (let left = 9; left >= 0; left--) {
    const reply = await call('GET', path)
    assert.equal(reply.status, 200)
    assert.deepEqual(shown(reply), ['10', String(left), String(Math.ceil((10 - left) / 5)), null])
  }
  for (const [method, at, body] of [
    ['GET', path],
    ['POST', path, { name: 'Acme' }],
    ['POST', path, '{'],
    ['GET', `${path}/abc`],
  ] as const) {
    const reply = await call(method, at, body)
    refused(reply, 429, 'rate_limited')
    assert.deepEqual(shown(reply), ['10', '0', '2', null])
    assert.equal(reply.headers.get('retry-after'), '1')
  }
  clock.advance(2000)
  assert.equal((await call('GET', path)).body.meta.total, 0)
})

test('after the wait that Retry-After names the next request is let through; the sustained rate is the setting', async (t) => {
  const { call, clock, close } = await limited(2)
  t.after(close)
  for (let index = 0; index < 4; index++) assert.equal((await call('GET', path)).status, 200)
  for (let second = 0; second < 5; second++) {
    const refusal = await call('GET', path)
    refused(refusal, 429, 'rate_limited')
    clock.advance(Number(refusal.headers.get('retry-after')) * 1000)
    assert.deepEqual([(await call('GET', path)).status, (await call('GET', path)).status], [200, 200])
  }
  // After any time without requests, the bucket has at most the burst.
  clock.advance(3_600_000)
  const statuses = []
  for (let index = 0; index < 6; index++) statuses.push((await call('GET', path)).status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429])
})

test('every answer to a key counts, refusals too; each key has its own allowance', async (t) => {
  const rapport = await limited(2)
  t.after(rapport.close)
  const { call } = rapport
  const reader = await makeKey(rapport, { scopes: ['contacts:read'] })
  const answers = [
    await call('GET', `${path}/999`),
    await call('POST', path, {}),
    await call('POST', path, '{'),
  ]
  assert.deepEqual(
    answers.map((reply) => [reply.status, ...shown(reply).slice(0, 2)]),
    [
      [404, '4', '3'],
      [422, '4', '2'],
      [400, '4', '1'],
    ],
  )
  assert.equal((await call('GET', path)).status, 200)
  refused(await call('GET', path), 429, 'rate_limited')
  for (let index = 0; index < 4; index++) refused(await reader.call('GET', path), 403, 'forbidden')
  refused(await reader.call('GET', path), 429, 'rate_limited')
})

test('routes without a key are not limited, and an answer to a wrong key has no limits', async (t) => {
  const { call, url, close } = await limited(1)
  t.after(close)
  for (let index = 0; index < 3; index++) await call('GET', path)
  refused(await call('GET', path), 429, 'rate_limited')
  for (const at of ['/healthz', '/readyz', '/metrics', '/api/v1/openapi.json'])
    assert.equal((await call('GET', at)).status, 200)
  refused(await call('GET', '/none'), 404, 'not_found')
  const unknown = await client(url, 'crm_unknown')('GET', path)
  refused(unknown, 401, 'unauthorized')
  assert.deepEqual(shown(unknown), [null, null, null, null])
})

test('0 turns the limit off', async (t) => {
  const { call, close } = await limited(0)
  t.after(close)
  const replies = await Promise.all(Array.from({ length: 500 }, () => call('GET', path)))
  for (const reply of replies)
    assert.deepEqual([reply.status, ...shown(reply)], [200, null, null, null, null])
})

test('the default is 100 a second and a burst of 200', async (t) => {
  const clock = turnableClock()
  const rapport = await startRapport({ clock, env: { RATE_LIMIT_PER_SECOND: '' } })
  t.after(rapport.close)
  const replies = await Promise.all(Array.from({ length: 250 }, () => rapport.call('GET', path)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 200)
  clock.advance(1000)
  const more = await Promise.all(Array.from({ length: 120 }, () => rapport.call('GET', path)))
  assert.equal(more.filter(({ status }) => status === 200).length, 100)
})
