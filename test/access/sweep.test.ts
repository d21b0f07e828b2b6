// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '../../src/app.ts'
import { refused } from '../envelope.ts'
import { type Reply, useRapport } from '../harness.ts'
import { makeKey } from '../keys.ts'
import type { Operation } from '../operations.ts'
import { before } from '../use.ts'
import { type Requests, request_env, startRequests, type ValidRequest } from '../valid-requests.ts'
import { until } from '../webhooks.ts'

// Covers every operation of the OpenAPI document, also new ones, each with a request that would succeed.

const rapport = useRapport({ env: request_env })
let requests: Requests
/** The operations with a scope or a session. A refused request changes nothing, so all tests send the same ones. */
let guarded: { operation: Operation; request: ValidRequest }[]
before(async () => {
  requests = await startRequests(rapport)
  guarded = []
  for (const operation of requests.operations)
    if (operation.caller !== 'anyone') guarded.push({ operation, request: await requests.request(operation) })
})

const withKey = (request: ValidRequest, key: string): ValidRequest => ({
  ...request,
  headers: { authorization: `Bearer ${key}` },
})
const as = async (request: ValidRequest, headers: Record<string, string>) =>
  requests.send({ ...request, headers })

/** The contents of the workspace, as far as a refused request could have changed it. */
async function trace() {
  const total = async (path: string) => (await requests.call('GET', `/api/v1/${path}`)).body.meta.total
  return [await total('audit-log?per_page=1'), await total('deliveries?per_page=1')]
}

test('every operation with a scope or a session answers 401 without a key, and with an unknown, a revoked or an expired one', async () => {
  const { id, token: revoked, call } = await makeKey(rapport)
  assert.equal((await call('POST', `/api/v1/keys/${id}/revoke`)).status, 200)
  // A revocation counts within a second.
  await until(() => call('GET', '/api/v1/contacts'), { status: 401 })
  const { token: expired } = await makeKey(rapport, { expires_at: '2020-01-01T00:00:00.000Z' })
  const wrong: Record<string, Record<string, string>> = {
    none: {},
    'an unknown key': { authorization: `Bearer crm_${'a'.repeat(43)}` },
    'a revoked key': { authorization: `Bearer ${revoked}` },
    'an expired key': { authorization: `Bearer ${expired}` },
    'an unknown session': { cookie: `rapport_session=${'a'.repeat(43)}` },
    'a key as a session': { cookie: `rapport_session=${requests.key}` },
    'another scheme': { authorization: `Basic ${requests.key}` },
  }
  assert.ok(guarded.length > 90)
  await requests.atRest()
  const before = await trace()
  for (const { operation, request } of guarded) {
    const texts = new Set<string>()
    for (const [what, headers] of Object.entries(wrong)) {
      const reply = await as(request, headers)
      assert.equal(reply.status, 401, `${operation.name} with ${what}: ${reply.text}`)
      texts.add(reply.text.replace(refused(reply, 401, 'unauthorized').request_id, ''))
    }
    assert.equal(texts.size, 1, `${operation.name} tells one reason from another`)
  }
  assert.deepEqual(await trace(), before)
})

test('every operation answers 403 to a key with all scopes but those of which it needs one, and changes nothing', async () => {
  const keys = new Map<string, string>()
  const neededBy = ({ scope, or_scopes }: Operation) => [scope, ...or_scopes]
  const keyWithout = (needed: readonly unknown[]) => {
    const made = makeKey(rapport, { scopes: scopes.filter((one) => !needed.includes(one)) })
    return made.then(({ token }) => token)
  }
  for (const { operation } of guarded) {
    const needed = neededBy(operation)
    if (!keys.has(String(needed))) keys.set(String(needed), await keyWithout(needed))
  }
  await requests.atRest()
  const before = await trace()
  for (const { operation, request } of guarded) {
    const { name, caller } = operation
    const needed = neededBy(operation)
    const lacking = keys.get(String(needed)) ?? ''
    const reply = await requests.send(withKey(request, lacking))
    const { message } = refused(reply, 403, 'forbidden')
    if (caller === 'key')
      for (const one of needed) assert.ok(message.includes(String(one)), `${name}: ${message}`)
  }
  assert.deepEqual(await trace(), before)
})

test('every operation with a scope is open to a key that has it with what it acts on, and closed without any', async () => {
  const none = await makeKey(rapport, { scopes: [] })
  for (const { operation, request } of guarded.filter(({ operation: { caller } }) => caller === 'key')) {
    refused(await requests.send(withKey(request, none.token)), 403, 'forbidden')
    const reply: Reply = await requests.send(request)
    assert.ok([200, 201, 202].includes(reply.status), `${operation.name}: ${reply.text}`)
  }
})

test('every operation for people alone is closed to keys, also to those with every scope', async () => {
  const people = guarded.filter(({ operation: { caller } }) => caller === 'person')
  assert.ok(people.length >= 10)
  for (const { request } of people)
    refused(await requests.send(withKey(request, requests.key)), 403, 'forbidden')
})
