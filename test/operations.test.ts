// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useRapport } from './harness.ts'
import { valueFor } from './operations.ts'
import { before } from './use.ts'
import { type Requests, request_env, startRequests } from './valid-requests.ts'

const rapport = useRapport({ env: request_env })
let requests: Requests
before(async () => {
  requests = await startRequests(rapport)
})

test('for every operation of the document a request is built that succeeds', async () => {
  for (const operation of requests.operations) {
    const reply = await requests.send(await requests.request(operation))
    // There is a first account already: by the body that is built here.
    const expected = operation.name === 'post /setup' ? [409] : [200, 201, 202]
    assert.ok(expected.includes(reply.status), `${operation.name}: ${reply.status} ${reply.text}`)
  }
})

test('an answer has ETag and Location exactly where the document promises them', async () => {
  const wrong: string[] = []
  for (const operation of requests.operations) {
    const { status, headers } = await requests.send(await requests.request(operation))
    const promised = operation.described.responses[status]?.headers ?? {}
    for (const name of ['ETag', 'Location'])
      if (headers.has(name) !== name in promised) wrong.push(`${operation.name} ${status}: ${name}`)
  }
  assert.deepEqual(wrong, [])
})

test('in a workspace of its own it succeeds too, and a workspace answers with its own id', async () => {
  const other = await startRequests(rapport, { workspace: 'new' })
  assert.notEqual(other.workspace_id, requests.workspace_id)
  for (const operation of other.operations.filter(({ name }) => name !== 'post /setup')) {
    const reply = await other.send(await other.request(operation))
    assert.ok([200, 201, 202].includes(reply.status), `${operation.name}: ${reply.status} ${reply.text}`)
  }
})

test('a schema of which no valid value can be made is refused with its field', () => {
  assert.throws(() => valueFor('iban', { type: 'string', pattern: '^[A-Z]{2}' }), /iban/)
  assert.throws(() => valueFor('anything', {}), /anything/)
})

test('records that a new route needs must be known to the builder', async () => {
  await assert.rejects(requests.make('/unheard-of'), /unheard-of/)
})
