// runs: once
// biome-ignore-all lint/suspicious/noExplicitAny: the document is looked at as its readers get it
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validate } from '@scalar/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Type } from 'typebox'
import { useRapport } from '../../../test/harness.ts'
import { before } from '../../../test/use.ts'
import { catalogue } from '../../app.ts'
import { bodyName, checkIds, operationId } from './names.ts'
import { completeOperation } from './operations.ts'
import { shareSchemas } from './parts.ts'

const rapport = useRapport()
let document: any
let operations: { name: string; method: string; path: string; operation: any }[]

before(async () => {
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

const resolve = (ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce((node, part) => node?.[part], document)

const resolved = (node: any) => (node.$ref ? resolve(node.$ref) : node)

/** A validator that knows all formats of the document. */
function createAjv() {
  const ajv = addFormats.default(new Ajv2020({ strict: false }))
  return ajv.addFormat('idn-email', /^[^\s@]+@[^\s@]+$/)
}

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
  const known = ['date-time', 'date', 'idn-email', 'uri']
  // An example of a webhook has a field of this name.
  const schemas = JSON.stringify(document, (key, value) => (/^examples?$/.test(key) ? undefined : value))
  walk(JSON.parse(schemas), ({ format }) => {
    if (typeof format === 'string') assert.ok(known.includes(format), format)
  })
})

test('the index of the API has the path of each resource: that of its list, if it has one', async () => {
  const { resources } = (await rapport.call('GET', '/api/v1')).body.data
  assert.ok(resources.length > 20)
  for (const { name, path } of resources) {
    const root = `/api/v1/${name}`
    if (document.paths[root]) assert.equal(path, root)
    else assert.ok(document.paths[path] && path.startsWith(`${root}/`), path)
  }
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
      // Files.
      else if (path === '/api/v1/workspace/export') assert.ok(response.content['application/gzip'], name)
      else if (/\/(export|errors)$/.test(path)) assert.ok(response.content['text/csv'], name)
      else
        assert.equal(
          resolved(response.content['application/json'].schema).properties.success.const,
          true,
          name,
        )
    }
    const expected = [...always]
    if (path.includes('{')) expected.push('404')
    if (operation.requestBody) expected.push('400', '413', '415', '422')
    if (method !== 'get') expected.push('412')
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
    const parameters = operation.parameters.map(resolved)
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

test('the lists of the base interface mark each parameter that goes beyond it', () => {
  const plain = (wanted: string) => {
    const { operation } = operations.find(({ name }) => name === wanted) ?? {}
    const given: any[] = operation.parameters.map(resolved)
    const own = given.filter((one) => one.in === 'query' && !one['x-extension'])
    assert.ok(own.length < given.length)
    return own.map(({ name }) => name).sort()
  }
  assert.deepEqual(plain('get /api/v1/contacts'), ['company_id', 'page', 'per_page', 'search', 'stage'])
  const of_deals = ['company_id', 'contact_id', 'page', 'per_page', 'stage', 'status']
  assert.deepEqual(plain('get /api/v1/deals'), of_deals)
  assert.deepEqual(plain('get /api/v1/contacts/{id}/notes'), [])
})

test('every event of the catalogue is described, with an example that its schema accepts', () => {
  assert.deepEqual(
    Object.keys(document.webhooks),
    catalogue.map(({ name }) => name),
  )
  const ajv = createAjv()
  for (const [name, { post }] of Object.entries<any>(document.webhooks)) {
    const { schema: named, example } = post.requestBody.content['application/json']
    const schema = resolved(named)
    const check = ajv.compile<any>({ ...schema, components: document.components })
    assert.ok(check(example), `${name}: ${ajv.errorsText(check.errors)}`)
    assert.deepEqual(
      Object.keys(example.data).sort(),
      Object.keys(resolved(schema.properties.data.anyOf[0]).properties).sort(),
      name,
    )
  }
})

test('the examples of fields are accepted by their own schemas', () => {
  const ajv = createAjv()
  walk(document, (node) => {
    if (!Array.isArray(node.examples) || node.type === undefined) return
    const check = ajv.compile({ ...node, components: document.components })
    for (const example of node.examples)
      assert.ok(check(example), `${JSON.stringify(example)}: ${ajv.errorsText(check.errors)}`)
  })
})

test('every answer that is a success has an example that its schema accepts', () => {
  const ajv = createAjv()
  for (const { name, operation } of operations)
    for (const [status, { content }] of Object.entries<any>(operation.responses)) {
      if (!status.startsWith('2')) continue
      for (const { schema, example } of Object.values<any>(content)) {
        assert.notEqual(example, undefined, name)
        const check = ajv.compile<any>({ ...schema, components: document.components })
        assert.ok(check(example), `${name}: ${ajv.errorsText(check.errors)}`)
      }
    }
})

test('every answer has its headers, and they are described', () => {
  for (const { name, method, operation } of operations)
    for (const [status, answer] of Object.entries<any>(operation.responses)) {
      const { headers } = resolved(answer)
      assert.ok(headers?.['X-Request-Id'], `${name}: ${status}`)
      for (const header of Object.values<any>(headers)) assert.ok(resolved(header).description, name)
      if (status === '201') assert.ok(headers.Location && headers.ETag, name)
      if (status === '429' || status === '503') assert.ok(headers['Retry-After'], name)
      if (status.startsWith('2') && operation.responses['304']) assert.ok(headers.ETag, name)
      if (status.startsWith('2') && takesIdempotencyKey(name, method, operation))
        assert.ok(headers['Idempotency-Replayed'], name)
    }
})

test('every parameter has a description, and pagination is the same in every list', () => {
  for (const { name, operation } of operations)
    for (const parameter of operation.parameters) {
      const { name: shown, description, in: place } = resolved(parameter)
      assert.ok(description, `${name}: ${shown}`)
      if (place === 'query' && ['page', 'per_page'].includes(shown))
        assert.equal(parameter.$ref, `#/components/parameters/${shown}`, name)
    }
})

test('bodies and answers of objects are named components', () => {
  for (const { name, operation } of operations) {
    const answers = Object.values<any>(operation.responses).flatMap((one) =>
      Object.entries<any>(one.content ?? {}),
    )
    const bodies = Object.entries<any>(operation.requestBody?.content ?? {})
    for (const [media, { schema }] of [...answers, ...bodies])
      if (media === 'application/json') assert.match(schema.$ref ?? '', /^#\/components\/schemas\/\w+$/, name)
  }
})

test('an event is one of the catalogue, which its name tells', () => {
  const { oneOf, discriminator } = document.components.schemas.Event
  assert.equal(discriminator.propertyName, 'event')
  assert.deepEqual(Object.keys(discriminator.mapping), Object.keys(document.webhooks))
  assert.deepEqual(
    oneOf.map(({ $ref }: any) => $ref),
    Object.values(discriminator.mapping),
  )
  for (const [name, ref] of Object.entries<any>(discriminator.mapping)) {
    const { const: own, enum: choices } = resolve(ref).properties.event
    // Some generators read only one of them.
    assert.deepEqual([own, choices], [name, [name]])
  }
})

test('the data of a batch is the body of a change, by its name', () => {
  for (const noun of ['Contact', 'Company', 'Deal', 'Activity']) {
    const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
    const { items } = document.components.schemas[`Batch${plural}Body`].properties
    assert.equal(items.items.properties.data.$ref, `#/components/schemas/${noun}Update`)
  }
})

test('no enum has null: a field that may be null is one of its texts or of type null', () => {
  let nullable = 0
  walk(document, ({ type, enum: choices, anyOf, examples }) => {
    if (!Array.isArray(choices)) {
      const [texts, nothing] = anyOf ?? []
      if (!texts?.enum || nothing?.type !== 'null') return
      assert.deepEqual(nothing, { type: 'null' })
      assert.ok(texts.enum.includes(examples[0]))
      nullable++
      return
    }
    assert.ok(!choices.includes(null), String(choices))
    assert.equal(typeof type, 'string', String(choices))
  })
  assert.ok(nullable > 8, String(nullable))
})

test('a value of a condition has the types that conditions compare', () => {
  const { conditions } = document.components.schemas.WebhookCreate.properties
  const check = createAjv().compile(conditions.items)
  for (const value of ['won', 5, true, null, ['won', 5, false]])
    assert.ok(check({ field: 'data.stage', op: 'eq', value }), String(value))
  for (const value of [{}, [[]], [null]]) assert.ok(!check({ field: 'data.stage', op: 'in', value }))
})

// The recommended rules of `npx @redocly/cli lint docs/openapi.json` that no other test holds. Redocly itself has 15 MB.
test('the document obeys the rules of linters', () => {
  const known = new Set(['type', 'title', 'description', 'properties', 'required', 'items', 'enum', 'const'])
  for (const word of ['format', 'default', 'examples', 'readOnly', 'additionalProperties', 'propertyNames'])
    known.add(word)
  for (const word of ['oneOf', 'anyOf', 'allOf', 'discriminator', 'pattern', 'uniqueItems', '$ref'])
    known.add(word)
  const limit = /^(min|max)(imum|Length|Items|Properties)$/
  const isKnown = (word: string) => known.has(word) || limit.test(word) || word.startsWith('x-')
  const checkSchema = (schema: any, at: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const word of Object.keys(schema))
      assert.ok(isKnown(word), `${at}: ${word} is not a word of schemas`)
    for (const [name, one] of Object.entries(schema.properties ?? {})) checkSchema(one, `${at}.${name}`)
    checkSchema(schema.items, at)
    checkSchema(schema.additionalProperties, at)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) checkSchema(schema, name)

  const refs = new Set<string>()
  walk(document, ({ $ref }) => refs.add($ref))
  for (const [section, parts] of Object.entries<any>(document.components))
    for (const name of section === 'securitySchemes' ? [] : Object.keys(parts))
      assert.ok(refs.has(`#/components/${section}/${name}`), `${section}/${name} is not used`)

  for (const { name, path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    const declared = operation.parameters.map(resolved).filter((one: any) => one.in === 'path')
    assert.deepEqual(
      declared.map((one: any) => one.name),
      inPath,
      name,
    )
    assert.ok(
      declared.every((one: any) => one.required),
      name,
    )
    assert.ok(!path.endsWith('/') && !path.includes('?'), name)
  }
})

test('an operation has an id of its own, and the error says what to do without one', () => {
  const names: [method: string, path: string, id: string, answers?: object][] = [
    ['get', '/api/v1/contacts/:id', 'getContact'],
    ['post', '/api/v1/companies', 'createCompany', { 201: {} }],
    ['put', '/api/v1/booking-pages/:id', 'updateBookingPage'],
    ['patch', '/api/v1/booking-pages/:id', 'patchBookingPage'],
    ['delete', '/api/v1/contacts/:id/notes/:note_id', 'deleteContactNote'],
    ['get', '/api/v1/contacts/:id/notes', 'listContactNotes', { 200: { properties: { meta: {} } } }],
    ['post', '/api/v1/deals/:id/change-stage', 'changeDealStage'],
    ['post', '/api/v1/contacts/batch', 'batchContacts'],
    ['get', '/api/v1/contacts/export', 'exportContacts'],
    ['get', '/api/v1/reports/pipeline', 'getPipelineReport'],
    ['get', '/api/v1/webhooks/:id/backfill', 'getWebhookBackfill'],
  ]
  for (const [method, path, id, answers = { 200: {} }] of names)
    assert.equal(operationId(method, { path, answers: answers as never }), id)
  assert.equal(bodyName('createContact'), 'ContactCreate')
  assert.equal(bodyName('changeDealStage'), 'ChangeDealStageBody')

  const twice = [
    { name: 'DELETE /api/v1/session', id: 'deleteSession' },
    { name: 'DELETE /api/v1/sessions/{session_id}', id: 'deleteSession' },
  ]
  const advice =
    /DELETE .*\/sessions\/.* and DELETE .*\/session have the same id.*Give the operation an `id` in its declaration/
  assert.throws(() => checkIds(twice), advice)
  assert.throws(() => checkIds([{ name: 'GET /x', id: '' }]), /Give the operation an `id`/)
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
