// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from './envelope.ts'
import { callOf, client, useRapport } from './harness.ts'
import { readOperations } from './operations.ts'

const rapport = useRapport()
const call = callOf(rapport)

const told = async (method: string, path: string, status: number, code: string) =>
  refused(await call(method, path), status, code).message

test('an unknown query parameter is answered with the nearest one and with those that exist', async () => {
  const parameters = ['page', 'per_page', 'cursor', 'sort', 'search']
  const message = await told('GET', '/api/v1/companies?limit=5', 400, 'bad_request')
  assert.match(
    message,
    /^"limit" is not a parameter of this path\. Its parameters are page, per_page, cursor, /,
  )
  for (const name of parameters) assert.ok(message.includes(name), name)
  for (const [wrong, meant] of [
    ['perpage', 'per_page'],
    ['Page', 'page'],
    ['serach', 'search'],
    ['created_form', 'created_from'],
    ['tga', 'tag'],
  ]) {
    const text = await told('GET', `/api/v1/companies?${wrong}=5`, 400, 'bad_request')
    assert.ok(text.includes(`Did you mean "${meant}"?`), text)
  }
  assert.ok((await told('GET', '/api/v1/contacts?x=5', 400, 'bad_request')).includes('custom_fields[key]'))
  assert.equal(
    await told('GET', '/api/v1/contacts/1?limit=5', 400, 'bad_request'),
    '"limit" is not a parameter of this path. It has none.',
  )
  // An invalid name is shown shortened and escaped.
  const [short, long] = await Promise.all(
    [1, 5000].map((length) => told('GET', `/api/v1/companies?${'x'.repeat(length)}`, 400, 'bad_request')),
  )
  assert.ok((long as string).length < (short as string).length + 100)
})

test('more than 50 query parameters are 400, also where any are let through', async () => {
  const query = (count: number) => Array.from({ length: count }, (_, n) => `custom_fields[k${n}]=1`).join('&')
  assert.equal((await call('GET', `/api/v1/contacts?${query(50)}`)).status, 200)
  for (const path of ['/api/v1/contacts', '/healthz', '/book/demo/slots'])
    assert.match(await told('GET', `${path}?${query(51)}`, 400, 'bad_request'), /50 parameters/)
})

test('a path without the prefix of the API is answered with the path that was meant', async () => {
  for (const path of ['/contacts', '/contacts/1', '/deals/1/change-stage', '/contacts/'])
    assert.equal(
      await told('GET', path, 404, 'not_found'),
      `The path ${path} does not exist. Did you mean /api/v1${path.replace(/\/$/, '')}?`,
    )
  assert.equal(await told('GET', '/none', 404, 'not_found'), 'The path /none does not exist.')
  assert.equal(
    await told('POST', '/contacts?a=1', 404, 'not_found'),
    await told('GET', '/contacts', 404, 'not_found'),
  )
})

test('GET /api/v1 lists every resource, without a key, with the way to the documentation', async () => {
  for (const caller of [call, client(rapport.url, null)])
    for (const path of ['/api/v1', '/api/v1/']) {
      const reply = await caller('GET', path)
      assert.equal(reply.status, 200, reply.text)
      const { resources, documentation, openapi } = reply.body.data
      const listed = resources.map(({ path }: { path: string }) => path.split('/')[3])
      const operations = await readOperations(rapport)
      const all = new Set(operations.map((operation) => operation.path.split('/')[3]).filter(Boolean))
      assert.deepEqual([...listed].sort(), [...all].sort())
      assert.equal((await client(rapport.url, null)('GET', documentation)).status, 200)
      assert.equal((await client(rapport.url, null)('GET', openapi)).status, 200)
    }
})
