// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: the document is looked at as its readers get it
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { validate } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Type } from 'typebox'
import { type Rapport, startRapport } from '../../../test/harness.ts'
import { catalogue } from '../../app.ts'
import { completeOperation } from './operations.ts'
import { shareSchemas } from './parts.ts'

let rapport: Rapport
let document: any
let operations: { name: string; method: string; path: string; operation: any }[]

before(async () => {
  rapport = await startRapport()
  const answer = await rapport.call('GET', '/api/v1/openapi.json')
  assert.equal(answer.status, 200)
  document = answer.body
  operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      path,
      operation,
    })),
  )
})
after(() => rapport.close())

const resolve = (ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, part) => node?.[part], document)

function walk(node: unknown, visit: (node: Record<string, any>) => void): void {
  if (typeof node !== 'object' || node === null) return
  visit(node)
  for (const inner of Object.values(node)) walk(inner, visit)
}

test('the document is valid OpenAPI 3.1 and every reference in it leads somewhere', async () => {
  assert.equal(document.openapi, '3.1.0')
  const { valid, errors } = await validate(document)
  assert.deepEqual(errors ?? [], [])
  assert.equal(valid, true)
  walk(document, ({ $ref }) => {
    if (typeof $ref === 'string') assert.ok(resolve($ref), $ref)
  })
})

test('it can be read without a key, and has no unknown words for formats', async () => {
  const response = await fetch(`${rapport.url}/api/v1/openapi.json`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  const known = ['date-time', 'date', 'email', 'uri']
  walk(document, ({ format }) => {
    if (typeof format === 'string') assert.ok(known.includes(format), format)
  })
})

test('every operation has its own id, a summary, a declared tag and the scope that it needs', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  const events = Object.values<any>(document.webhooks).map(({ post }) => post.operationId)
  assert.equal(new Set([...ids, ...events]).size, ids.length + events.length)
  const tags = document.tags.map((tag: any) => tag.name)
  for (const { name, operation } of operations) {
    assert.ok(operation.summary, name)
    // An operation has a scope, or its description says that it is open to all or to signed-in people. An operation for
    // people only has a scope, too.
    if (operation.security) {
      const scope = name === 'post /api/v1/workspaces' ? 'workspace:write' : undefined
      assert.equal(operation['x-scope'], scope, name)
      assert.ok(['[]', '[{"session":[]}]'].includes(JSON.stringify(operation.security)), name)
    } else assert.match(operation['x-scope'], /^\w+:(read|write)$/, name)
    for (const tag of operation.tags) assert.ok(tags.includes(tag), `${name}: ${tag}`)
  }
})

test('every operation says how it succeeds and how it can fail', () => {
  const always = ['403', '429', '500', '503']
  for (const { name, method, path, operation } of operations) {
    const statuses = Object.keys(operation.responses)
    const success = Object.entries<any>(operation.responses).filter(([status]) => status.startsWith('2'))
    assert.equal(success.length, 1, name)
    for (const [, response] of success) {
      assert.notEqual(response.description, 'Default Response', name)
      // The one that answers with a stream.
      if (path === '/api/v1/events/stream') assert.ok(response.content['text/event-stream'], name)
      else assert.equal(response.content['application/json'].schema.properties.success.const, true, name)
    }
    const expected = [...always]
    if (path.includes('{')) expected.push('404')
    if (operation.requestBody) expected.push('400', '413', '415', '422')
    if (['put', 'patch', 'delete'].includes(method)) expected.push('412')
    // A record, or the only one of its kind for the caller.
    if (method === 'get' && /(\}|\/(session|profile|workspace))$/.test(path)) {
      expected.push('304')
      const told = operation.parameters.map(({ $ref = '' }) => $ref.split('/').at(-1))
      assert.ok(told.includes('if_none_match'), name)
    }
    const open = operation.security?.length === 0
    if (!open || name === 'post /api/v1/session') expected.push('401')
    else assert.ok(!statuses.includes('401'), name)
    if (takesIdempotencyKey(name, method, operation)) expected.push('409')
    for (const status of expected) assert.ok(statuses.includes(status), `${name}: ${status}`)
  }
})

// POSTs without Idempotency-Key. Stored answers belong to a caller and a workspace, and no answer to a body with a
// password is stored.
const unrepeatable = [
  'post /api/v1/profile/password',
  'post /api/v1/profile/delete',
  'post /api/v1/workspaces',
]
const takesIdempotencyKey = (name: string, method: string, operation: any) =>
  method === 'post' && operation.security?.length !== 0 && !unrepeatable.includes(name)

test('parameters with a default may be left out, and POST takes an Idempotency-Key, except where it must not', () => {
  for (const { name, method, operation } of operations) {
    const parameters = operation.parameters.map((one: any) => (one.$ref ? resolve(one.$ref) : one))
    for (const parameter of parameters)
      if (parameter.schema.default !== undefined) assert.equal(parameter.required, false, name)
    const names = parameters.map((parameter: any) => parameter.name)
    assert.equal(names.includes('Idempotency-Key'), takesIdempotencyKey(name, method, operation), name)
  }
})

test('the base interface is not marked as an extension, and what goes beyond it is', () => {
  const base = [
    'get /api/v1/contacts',
    'post /api/v1/contacts',
    'get /api/v1/contacts/{id}',
    'put /api/v1/contacts/{id}',
    'delete /api/v1/contacts/{id}',
    'get /api/v1/contacts/{id}/notes',
    'get /api/v1/deals',
    'post /api/v1/deals',
    'get /api/v1/deals/{id}',
    'put /api/v1/deals/{id}',
    'delete /api/v1/deals/{id}',
    'post /api/v1/deals/{id}/change-stage',
    'post /api/v1/webhooks',
  ]
  const plain = operations.filter(({ operation }) => !operation['x-extension']).map(({ name }) => name)
  assert.deepEqual(plain.sort(), base.sort())
})

test('every event of the catalogue is described, with an example that its schema accepts', () => {
  assert.deepEqual(
    Object.keys(document.webhooks),
    catalogue.map(({ name }) => name),
  )
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  for (const [name, { post }] of Object.entries<any>(document.webhooks)) {
    const { schema, example } = post.requestBody.content['application/json']
    const check = ajv.compile<any>({ ...schema, components: document.components })
    assert.ok(check(example), `${name}: ${ajv.errorsText(check.errors)}`)
    assert.deepEqual(
      Object.keys(example.data).sort(),
      Object.keys(
        (schema.properties.data.$ref ? resolve(schema.properties.data.$ref) : schema.properties.data)
          .properties,
      ).sort(),
      name,
    )
  }
})

test('the examples of fields are accepted by their own schemas', () => {
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  walk(document, (node) => {
    if (!Array.isArray(node.examples) || node.type === undefined) return
    const check = ajv.compile({ ...node, components: document.components })
    for (const example of node.examples)
      assert.ok(check(example), `${JSON.stringify(example)}: ${ajv.errorsText(check.errors)}`)
  })
})

test('schemas with a title become one component, and two different ones with one title are refused', () => {
  const money = { type: 'object', title: 'Money', properties: { units: { type: 'integer' } } }
  const shared = shareSchemas({
    components: { schemas: {} as Record<string, unknown> },
    a: money,
    b: [money],
  })
  assert.deepEqual(shared.a, { $ref: '#/components/schemas/Money' })
  assert.deepEqual(shared.b, [shared.a])
  assert.deepEqual(shared.components.schemas, { Money: money })
  assert.throws(
    () => shareSchemas({ components: { schemas: {} }, a: money, b: { ...money, required: ['units'] } }),
    /Money/,
  )
})

test("a route's own words about an answer are kept", () => {
  const described = {
    operationId: 'x',
    responses: { 201: { description: 'Done.' }, 409: { description: 'Busy.' } },
  }
  const { responses } = completeOperation('post', described, {
    method: 'POST',
    path: '/api/v1/things',
    scope: 'things:write',
    summary: 'Make a thing',
    answers: { 201: Type.Object({}) },
    extension: true,
    repeatable: false,
  })
  assert.equal(responses[201]?.description, 'Done.')
  assert.equal(responses[409]?.description, 'Busy.')
})
