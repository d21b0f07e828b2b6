import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { resources } from '../../src/resources/index.ts'
import { problems } from '../envelope.ts'
import { useRapport } from '../harness.ts'
import { smallestBody, valueFor } from '../operations.ts'
import { type Browser, setUp } from '../people.ts'
import { before } from '../use.ts'

const rapport = useRapport()
let person: Browser
before(async () => {
  person = await setUp(rapport)
})

// biome-ignore lint/suspicious/noExplicitAny: the document is read as it is
type Json = any

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
const resolve = (schema: Json): Json =>
  schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema

/** Calls with a key, or as a person what is not for keys. */
function call(method: string, asked: string, body?: unknown) {
  const [path = ''] = asked.split('?')
  const { security } = document.paths[path][method.toLowerCase()]
  const for_people = security?.every((one: Json) => 'session' in one) && security.length > 0
  return for_people ? person(method, asked.replace('/api/v1', ''), body) : rapport.call(method, asked, body)
}

type Field = { path: string; name: string; description?: string }

const times = { start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' }
const bodies: Record<string, object> = {
  ...Object.fromEntries(resources.map((resource) => [resource.path, smallestBody(resource)])),
  '/api/v1/deals': { name: 'Deal' },
  '/api/v1/appointments': { title: 'Visit', ...times },
  '/api/v1/keys': { name: 'Key' },
}

/** The fields of all bodies that make a record, for which something holds. */
const bodyFields = (holds: (schema: Json, name: string) => boolean): Field[] =>
  Object.entries<Json>(document.paths).flatMap(([path, { post }]) => {
    const schema = post?.requestBody?.content['application/json']?.schema
    if (!schema || path.includes('{')) return []
    const properties = Object.entries<Json>(resolve(schema).properties ?? {})
    return properties
      .filter(([name, one]) => !one.readOnly && holds(resolve(one), name))
      .map(([name]) => ({ path, name }))
  })

const queryFields = (holds: (schema: Json, name: string) => boolean): Field[] =>
  Object.entries<Json>(document.paths).flatMap(([path, { get }]) =>
    (path.includes('{') ? [] : (get?.parameters ?? []))
      .filter((one: Json) => one.in === 'query' && holds(resolve(one.schema), one.name))
      .map(({ name, description }: Json) => ({ path, name, description })),
  )

/** The parameters that a request of a path needs, with valid values. */
const requiredOf = (path: string): Record<string, string> =>
  Object.fromEntries(
    document.paths[path].get.parameters
      .filter((one: Json) => one.in === 'query' && one.required)
      .map(({ name, schema }: Json) => [name, String(valueFor(name, resolve(schema)))]),
  )

/** A request with one more parameter, as it is written in the address. */
const withParameter = (path: string, name: string, written: string) =>
  `${path}?${new URLSearchParams(requiredOf(path))}&${name}=${written}`

// Ids of members, webhooks and workspaces are not checked as numbers.
const text_ids = ['webhook_id', 'workspace_id', 'owner_id']
const isReference = (_: Json, name: string) => name.endsWith('_id') && !text_ids.includes(name)

async function refusedInBody({ path, name }: Field, written: string) {
  const body = JSON.stringify({ ...bodies[path], [name]: '@' }).replace('"@"', written)
  const found = problems(await call('POST', path, body))
  assert.deepEqual(Object.keys(found), [name], `${path} ${name}: ${written}`)
}

test('an invalid id is 422 in every body and every filter, by its field, and never a 5xx', async () => {
  const in_bodies = bodyFields(isReference)
  assert.ok(in_bodies.length >= 8, JSON.stringify(in_bodies))
  for (const field of in_bodies)
    for (const written of [
      '0',
      '-1',
      '1.5',
      '1e400',
      '1e3',
      '2147483648',
      '9007199254740993',
      '9223372036854775808',
      '"1"',
      '" 1"',
      '"0x1"',
      'true',
      '[1]',
      '{}',
      '""',
    ])
      await refusedInBody(field, written)
  const in_queries = queryFields(
    (schema, name) => isReference(schema, name) && [schema.type].flat().includes('integer'),
  )
  assert.ok(in_queries.length >= 5, JSON.stringify(in_queries))
  for (const { path, name } of in_queries) {
    for (const written of [
      '0',
      '-1',
      '1.5',
      '1e3',
      '%201',
      '0x1',
      '%2B1',
      '9007199254740993',
      '9223372036854775808',
      '9'.repeat(300),
      '%D9%A1',
      '!x',
      '3,x',
      '3,',
      '',
    ])
      assert.deepEqual(
        Object.keys(problems(await call('GET', withParameter(path, name, written)))),
        [name],
        `${path}?${name}=${written}`,
      )
    // An id of a record in the log of deliveries needs its kind.
    const more = path.endsWith('/deliveries') ? '&kind=deals' : ''
    assert.equal((await call('GET', withParameter(path, name, `9007199254740991${more}`))).status, 200)
  }
})

const no_days = [
  '2026-02-30',
  '2026-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-04-31',
  '2026-01-00',
  '2026-1-1',
  '26-01-01',
  '20260101',
  '2026-01-01T00:00:00Z',
  '-2026-01-01',
  '+002026-01-01',
  '10000-01-01',
  '2026/01/01',
  '01.02.2026',
  'today',
  '２０２６-01-01',
]

test('a day that does not exist is 422; one that does comes back as the same day', async () => {
  const fields = bodyFields(({ format }) => format === 'day' || format === 'date')
  assert.deepEqual(fields, [{ path: '/api/v1/deals', name: 'expected_close_date' }])
  for (const day of no_days) await refusedInBody(fields[0]!, JSON.stringify(day))
  for (const written of ['20260101', 'true', '["2026-01-01"]']) await refusedInBody(fields[0]!, written)
  for (const day of [
    '2024-02-29',
    '2000-02-29',
    '2026-12-31',
    '2026-03-29',
    '2026-10-25',
    '9999-12-31',
    '1970-01-01',
  ]) {
    const { body } = await rapport.call('POST', '/api/v1/deals', { name: 'Deal', expected_close_date: day })
    assert.equal(body.data.expected_close_date, day)
    const found = await rapport.call('GET', `/api/v1/deals/${body.data.id}`)
    assert.equal(found.body.data.expected_close_date, day)
  }
})

const no_times = [
  '2026-02-30T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:60:00Z',
  '2026-01-01T23:59:61Z',
  '2026-01-01T00:00:00',
  '2026-01-01',
  '2026-01-01T00:00:00+25:00',
  '2026-01-01T00:00:00+0200',
  '2026-13-01T00:00:00Z',
  '1795260138604',
  'now',
  '2026-01-01T00:00:00Zx',
  '-000001-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
]

test('a time that does not exist is 422 in every body and every filter; one that does is the same moment in UTC', async () => {
  const in_bodies = bodyFields(({ format }) => format === 'date-time')
  assert.ok(in_bodies.length >= 5, JSON.stringify(in_bodies))
  for (const field of in_bodies) for (const time of no_times) await refusedInBody(field, JSON.stringify(time))
  const in_queries = queryFields((schema) => schema.format === 'date-time' || schema['x-time-or-day'])
  assert.ok(in_queries.length >= 10, JSON.stringify(in_queries))
  for (const { path, name, description = '' } of in_queries)
    for (const time of no_times) {
      const asked = `${path}?${new URLSearchParams({ ...requiredOf(path), [name]: time })}`
      const reply = await call('GET', asked)
      // A range of times takes a day that exists.
      if (time === '2026-01-01' && /A day counts/.test(description)) assert.equal(reply.status, 200, asked)
      else assert.deepEqual(Object.keys(problems(reply)), [name], asked)
    }
  assert.ok(in_queries.some(({ description = '' }) => !/A day counts/.test(description)))
  const ranges = in_queries.filter(({ description = '' }) => /A day counts/.test(description))
  assert.ok(ranges.length >= 10)
  for (const { path, name } of ranges)
    assert.deepEqual(Object.keys(problems(await call('GET', withParameter(path, name, '2026-02-30')))), [
      name,
    ])
  for (const time of [
    '2026-03-29T02:30:00+02:00',
    '2026-12-31T23:59:59.999-12:00',
    '2024-02-29T12:00:00Z',
    '2026-01-01T00:00:00.1234567Z',
    '2026-06-01T00:00:00+05:45',
    '1970-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
  ]) {
    const { body } = await rapport.call('POST', '/api/v1/activities', { subject: 'Call', due_at: time })
    assert.equal(body.data.due_at, new Date(time).toISOString(), time)
  }
})

test('a sum of fractions with too many decimals is 422; its rounded form is exact', async () => {
  for (const value of [0.1 + 0.2, 1.00005])
    assert.deepEqual(
      problems(await rapport.call('POST', '/api/v1/deals', { name: 'Deal', value })),
      { value: 'too_precise' },
      String(value),
    )
  assert.equal(
    (await rapport.call('POST', '/api/v1/deals', { name: 'Deal', value: 0.3 })).body.data.value,
    0.3,
  )
})
