// runs: both
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newWorkspace } from '../../test/database.ts'
import { dataOf, problems, refused } from '../../test/envelope.ts'
import { type Rapport, useRapport } from '../../test/harness.ts'
import { makeKey } from '../../test/keys.ts'
import { formats } from '../http/formats.ts'

const rapport = useRapport()

type Call = Rapport['call']
const base = '/api/v1'
const path = `${base}/custom-fields`
const ana = { first_name: 'Ana', last_name: 'Ruiz' }

const ok = async (call: Call, method: string, at: string, body?: unknown) =>
  dataOf(await call(method, at, body))
const bodies: Record<string, object> = {
  contacts: ana,
  companies: { name: 'Acme' },
  deals: { name: 'Relaunch' },
  activities: { subject: 'Call' },
  appointments: { title: 'Demo', start_at: '2030-01-08T12:00:00Z', end_at: '2030-01-08T13:00:00Z' },
}

const define = (call: Call, body: object, query = '') =>
  ok(call, 'POST', `${path}${query}`, { resource: 'contacts', type: 'text', ...body })
const contact = (call: Call, custom_fields: object) =>
  ok(call, 'POST', `${base}/contacts`, { ...ana, custom_fields })
const sent = (call: Call, custom_fields: object | null, id?: number) =>
  id === undefined
    ? call('POST', `${base}/contacts`, { ...ana, custom_fields })
    : call('PUT', `${base}/contacts/${id}`, { custom_fields })

test('a definition has exactly its fields, is in the audit log, and is found where Location says', async () => {
  const call = await newWorkspace(rapport)
  const reply = await call('POST', path, { resource: 'deals', key: 'seats', type: 'number' })
  assert.equal(reply.status, 201, reply.text)
  const { id, created_at, updated_at, ...rest } = reply.body.data
  assert.deepEqual(rest, {
    resource: 'deals',
    key: 'seats',
    label: 'seats',
    type: 'number',
    options: [],
    required: false,
    unique: false,
    position: 0,
  })
  assert.equal(created_at, updated_at)
  const at = `${path}/${id}`
  assert.equal(reply.headers.get('location'), at)
  const read = await call('GET', at)
  assert.deepEqual(read.body.data, reply.body.data)
  assert.equal(read.headers.get('etag'), reply.headers.get('etag'))
  const [entry] = await ok(call, 'GET', `${base}/audit-log?kind=custom_fields&record_id=${id}`)
  assert.deepEqual([entry.action, entry.after], ['created', rest])
})

test('the fields of one resource are listed in the order of their positions', async () => {
  const call = await newWorkspace(rapport)
  for (const key of ['a', 'b', 'c']) await define(call, { key })
  const { id } = await define(call, { key: 'first' })
  await define(call, { resource: 'companies', key: 'a' })
  await ok(call, 'PUT', `${path}/${id}`, { position: 0, label: 'First' })
  const { body } = await call('GET', `${path}?resource=contacts`)
  assert.deepEqual(
    body.data.map((one: Record<string, unknown>) => [one.key, one.position]),
    [
      ['a', 0],
      ['first', 0],
      ['b', 1],
      ['c', 2],
    ],
  )
  assert.equal(body.meta.total, 4)
  for (const [query, resources] of [
    ['contacts,companies', ['companies', 'contacts']],
    ['!contacts', ['companies']],
    ['companies,!companies', []],
  ] as const) {
    const { data } = (await call('GET', `${path}?resource=${query}`)).body
    const found = new Set(data.map(({ resource }: { resource: string }) => resource))
    assert.deepEqual([...found], resources, query)
  }
  assert.equal((await call('GET', path)).body.meta.total, 5)
})

test('an invalid definition is 422 with every failing field', async () => {
  const call = await newWorkspace(rapport)
  await define(call, { key: 'taken' })
  const cases: [object, Record<string, string>][] = [
    [{}, { resource: 'required', key: 'required', type: 'required' }],
    [
      { resource: 'notes', key: 'k'.repeat(65), type: 'money', label: ' ', position: -1, required: 'yes' },
      {
        resource: 'unknown_value',
        key: 'too_long',
        type: 'unknown_value',
        label: 'required',
        position: 'out_of_range',
        required: 'invalid_type',
      },
    ],
    [{ resource: 'deals', key: 'a', type: 'select' }, { options: 'required' }],
    [{ resource: 'deals', key: 'a', type: 'text', options: ['x'] }, { options: 'not_allowed' }],
    [
      {
        resource: 'deals',
        key: 'a',
        type: 'select',
        options: Array(201)
          .fill('x')
          .map((x, n) => x + n),
      },
      { options: 'too_many' },
    ],
    [
      { resource: 'deals', key: 'a', type: 'select', options: ['x'.repeat(101)] },
      { 'options.0': 'too_long' },
    ],
    [
      {
        resource: 'deals',
        key: 'a',
        type: 'select',
        options: Array.from({ length: 200 }, (_, n) => `${n} ${'x'.repeat(90)}`),
      },
      { options: 'too_large' },
    ],
    [{ resource: 'contacts', key: 'taken', type: 'text' }, { key: 'taken' }],
    // No body can have the first, and no filter can name the others.
    ...['__proto__', 'a[b', 'a]_from', 'a\u0007b'].map((key): [object, Record<string, string>] => [
      { resource: 'contacts', key, type: 'text' },
      { key: 'invalid_format' },
    ]),
  ]
  for (const [body, told] of cases) assert.deepEqual(problems(await call('POST', path, body)), told)
  const { id } = await define(call, { key: 'fixed' })
  const change = { resource: 'deals', key: 'other', type: 'number', options: ['x'] }
  assert.deepEqual(problems(await call('PUT', `${path}/${id}`, change)), {
    resource: 'not_changeable',
    key: 'not_changeable',
    type: 'not_changeable',
    options: 'not_allowed',
  })
})

test('a defined key refuses a value of another type on every kind of record, and says what it accepts', async () => {
  const call = await newWorkspace(rapport)
  const wrong: Record<string, [object, unknown, unknown[], string]> = {
    text: [{}, 'any', [5, true], 'must be a text'],
    number: [{}, -1.5, ['5', true], 'must be a number'],
    boolean: [{}, false, ['true', 0], 'must be true or false'],
    date: [{}, '2026-02-28', ['2026-02-30', '28.02.2026', 5], formats.day],
    select: [{ options: ['EMEA', 'APAC'] }, 'EMEA', ['emea', '', 1], 'must be one of EMEA, APAC'],
    url: [{}, 'https://acme.example/a?b=ä', ['acme.example', 'ftp://acme.example', 'http://a b'], 'http://'],
    email: [{}, 'ana@acme.example', ['ana@', 'ana'], formats.email_address],
  }
  for (const [resource, body] of Object.entries(bodies)) {
    const records = `${base}/${resource}`
    for (const [type, [more]] of Object.entries(wrong))
      await define(call, { resource, key: `my ${type}`, type, ...more })
    const right = Object.fromEntries(Object.entries(wrong).map(([type, [, value]]) => [`my ${type}`, value]))
    const record = await ok(call, 'POST', records, { ...body, custom_fields: { ...right, free: 'x' } })
    for (const [type, [, , values, accepts]] of Object.entries(wrong))
      for (const value of values) {
        const custom_fields = { [`my ${type}`]: value }
        for (const reply of [
          await call('POST', records, { ...body, custom_fields }),
          await call('PUT', `${records}/${record.id}`, { custom_fields }),
        ]) {
          const { fields = [] } = refused(reply, 422, 'validation_failed')
          assert.deepEqual(
            fields.map(({ field }) => field),
            [`custom_fields.my ${type}`],
            `${resource}: ${JSON.stringify(value)}`,
          )
          assert.ok(!accepts || fields[0]?.message?.includes(accepts), fields[0]?.message)
        }
      }
    assert.deepEqual((await ok(call, 'GET', `${records}/${record.id}`)).custom_fields, {
      ...right,
      free: 'x',
    })
  }
})

test('one 422 names the values of definitions beside all other problems', async () => {
  const call = await newWorkspace(rapport)
  await define(call, { key: 'seats', type: 'number', required: true })
  const wrong = { first_name: 'Ana', email: 'ana@', company_id: 999_999, custom_fields: { seats: 'many' } }
  assert.deepEqual(problems(await call('POST', `${base}/contacts`, wrong)), {
    last_name: 'required',
    email: 'invalid_format',
    company_id: 'not_found',
    'custom_fields.seats': 'invalid_type',
  })
  const nested = { ...ana, custom_fields: { seats: {} } }
  assert.deepEqual(problems(await call('POST', `${base}/contacts`, nested)), {
    'custom_fields.seats': 'invalid_type',
  })
})

test('a required value is needed by new records, and old ones lack it until it is touched', async () => {
  const call = await newWorkspace(rapport)
  const { id: old } = await contact(call, { free: 1 })
  await define(call, { key: 'region', required: true })
  for (const custom_fields of [{}, null, { region: null }, { region: ' ' }])
    assert.deepEqual(problems(await sent(call, custom_fields)), { 'custom_fields.region': 'required' })
  assert.deepEqual(problems(await call('POST', `${base}/contacts`, ana)), {
    'custom_fields.region': 'required',
  })
  for (const body of [{ phone: '1' }, { custom_fields: { free: 2 } }, { custom_fields: { region: null } }])
    await ok(call, 'PUT', `${base}/contacts/${old}`, body)
  await ok(call, 'PUT', `${base}/contacts/${old}`, { custom_fields: { region: 'EMEA' } })
  for (const custom_fields of [{ region: null }, null, { region: '' }])
    assert.deepEqual(problems(await sent(call, custom_fields, old)), { 'custom_fields.region': 'required' })
})

test('a definition that existing values break is refused with their number, and nothing is left of it', async () => {
  const call = await newWorkspace(rapport)
  for (const seats of [1, '2', 'three', true, 4]) await contact(call, { seats })
  const trashed = await contact(call, { seats: 'five' })
  await ok(call, 'DELETE', `${base}/contacts/${trashed.id}`)
  const body = { resource: 'contacts', key: 'seats', type: 'number' }
  const { message } = refused(await call('POST', path, body), 409, 'conflict')
  assert.match(message, /^3 existing values break .*force=true/)
  assert.equal((await call('GET', path)).body.meta.total, 0)
  await contact(call, { seats: 'six' })
  assert.equal((await ok(call, 'GET', `${base}/audit-log?kind=custom_fields`)).length, 0)
})

test('force=true accepts a definition, and leaves old values alone until they change', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await contact(call, { seats: 'many', region: 'a' })
  await define(call, { key: 'seats', type: 'number' }, '?force=true')
  await ok(call, 'PUT', `${base}/contacts/${id}`, { custom_fields: { region: 'b' } })
  await ok(call, 'PUT', `${base}/contacts/${id}`, { custom_fields: { seats: 'many', region: 'c' } })
  assert.deepEqual(problems(await sent(call, { seats: 'few' }, id)), {
    'custom_fields.seats': 'invalid_type',
  })
  await ok(call, 'PUT', `${base}/contacts/${id}`, { custom_fields: { seats: 5 } })
  assert.deepEqual(problems(await sent(call, { seats: 'many' }, id)), {
    'custom_fields.seats': 'invalid_type',
  })
})

test('a change that existing values break is refused, and the definition stays as it was', async () => {
  const call = await newWorkspace(rapport)
  const region = await define(call, { key: 'region', type: 'select', options: ['EMEA', 'APAC', 'US'] })
  for (const one of ['EMEA', 'APAC', 'APAC']) await contact(call, { region: one })
  const at = `${path}/${region.id}`
  await ok(call, 'PUT', at, { options: ['EMEA', 'APAC', 'LATAM'] })
  const before = await ok(call, 'GET', at)
  const shrunk = await call('PUT', at, { options: ['EMEA'], label: 'Area' })
  assert.match(refused(shrunk, 409, 'conflict').message, /^2 existing values/)
  assert.match(refused(await call('PUT', at, { unique: true }), 409, 'conflict').message, /1 not unique/)
  assert.deepEqual(await ok(call, 'GET', at), before)
  await contact(call, { region: 'LATAM' })
  await ok(call, 'PUT', `${at}?force=true`, { options: ['EMEA'] })
  assert.deepEqual(problems(await sent(call, { region: 'APAC' })), {
    'custom_fields.region': 'unknown_value',
  })
})

test('deleting a definition keeps the values, and takes back its rules', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await define(call, { key: 'number', type: 'number', required: true, unique: true })
  const { id: first } = await contact(call, { number: 7 })
  const etag = (await call('GET', `${path}/${id}`)).headers.get('etag') ?? ''
  await ok(call, 'PUT', `${path}/${id}`, { label: 'No.' })
  refused(await call('DELETE', `${path}/${id}`, undefined, { 'if-match': etag }), 412, 'precondition_failed')
  await ok(call, 'DELETE', `${path}/${id}`)
  for (const method of ['GET', 'DELETE']) refused(await call(method, `${path}/${id}`), 404, 'not_found')
  for (const value of [{ number: 7 }, { number: 'seven' }, {}]) await contact(call, value)
  assert.deepEqual((await ok(call, 'GET', `${base}/contacts/${first}`)).custom_fields, { number: 7 })
  refused(
    await call('POST', path, { resource: 'contacts', key: 'number', type: 'number', unique: true }),
    ...([409, 'conflict'] as const),
  )
})

test('definitions belong to the workspace, need its scopes, and are at most 100 for a resource', async () => {
  const call = await newWorkspace(rapport)
  const { id } = await define(call, { key: 'k0', type: 'number' })
  const stranger = await newWorkspace(rapport)
  for (const [method, body] of [['GET'], ['PUT', { label: 'x' }], ['DELETE']] as const)
    refused(await stranger(method, `${path}/${id}`, body), 404, 'not_found')
  await contact(stranger, { k0: 'text' })
  const reader = (await makeKey(rapport, { scopes: ['workspace:read'] })).call
  refused(await reader('POST', path, { resource: 'contacts', key: 'x', type: 'text' }), 403, 'forbidden')
  assert.equal((await reader('GET', path)).status, 200)
  for (let n = 1; n < 96; n++) await define(call, { key: `k${n}` })
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      call('POST', path, { resource: 'contacts', key: `l${n}`, type: 'text' }),
    ),
  )
  const statuses = replies.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [...Array(4).fill(201), ...Array(4).fill(409)])
  await define(call, { resource: 'deals', key: 'k0' })
})

test('a key that may read a kind of record reads the definitions of this kind, and of no other', async () => {
  const keys = async (call: Call, query = '') => {
    const { data, meta } = (await call('GET', `${path}${query}`)).body
    assert.equal(meta.total, data.length)
    return data.map(({ resource, key }: { resource: string; key: string }) => `${resource}.${key}`)
  }
  const deal_field = await define(rapport.call, { resource: 'deals', key: 'who reads' })
  const contact_field = await define(rapport.call, { key: 'who reads' })
  const { call: seller } = await makeKey(rapport, { scopes: ['deals:read'] })
  assert.deepEqual(await keys(seller), ['deals.who reads'])
  assert.deepEqual(await keys(seller, '?resource=deals'), ['deals.who reads'])
  assert.deepEqual(await keys(seller, '?resource=contacts,deals'), ['deals.who reads'])
  await ok(seller, 'GET', `${path}/${deal_field.id}`)
  for (const hidden of [`${path}/${contact_field.id}`, `${path}?resource=contacts`])
    assert.match(
      refused(await seller('GET', hidden), 403, 'forbidden').message,
      /contacts:read or workspace:read/,
    )
  refused(await seller('DELETE', `${path}/${deal_field.id}`), 403, 'forbidden')
  const { call: other } = await makeKey(rapport, { scopes: ['deals:write'] })
  refused(await other('GET', path), 403, 'forbidden')
})

test('a repeated Idempotency-Key makes one definition', async () => {
  const call = await newWorkspace(rapport)
  const body = { resource: 'contacts', key: 'once', type: 'text' }
  const [one, two] = [
    await call('POST', path, body, { 'idempotency-key': 'once' }),
    await call('POST', path, body, { 'idempotency-key': 'once' }),
  ]
  assert.deepEqual([one.status, two.status, two.text], [201, 201, one.text])
})
