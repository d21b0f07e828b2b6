// biome-ignore-all lint/suspicious/noExplicitAny: a schema is looked at as clients get it
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAssistant } from '../../test/assistant.ts'
import { callOf, useRapport } from '../../test/harness.ts'
import { before } from '../../test/use.ts'

const rapport = useRapport()
const call = callOf(rapport)
let tools: { name: string; inputSchema: any }[]
before(async () => {
  const { tools: read, close } = await connectAssistant(rapport)
  tools = await read()
  await close()
})

/** Each schema within the arguments of a tool, with its place. */
function* schemasIn(node: any, place: string): Generator<[string, any]> {
  if (typeof node !== 'object' || node === null) return
  yield [place, node]
  for (const [name, inner] of Object.entries(node))
    if (!['examples', 'default', 'enum'].includes(name)) yield* schemasIn(inner, `${place}.${name}`)
}

test('a tool requires only the arguments that have no default', () => {
  for (const { name, inputSchema } of tools)
    for (const field of inputSchema.required ?? [])
      assert.ok(!('default' in inputSchema.properties[field]), `${name} requires ${field}`)
  const find = tools.find(({ name }) => name === 'find_contacts')
  assert.equal(find?.inputSchema.properties.per_page.default, 25)
})

test('no argument of a tool may be null', () => {
  for (const { name, inputSchema } of tools)
    for (const [place, { type, enum: choices, const: only, default: value, examples }] of schemasIn(
      inputSchema,
      name,
    )) {
      assert.ok(!(Array.isArray(type) ? type : [type]).includes('null'), place)
      assert.ok(!(choices ?? []).includes(null) && only !== null && value !== null, place)
      assert.ok(!(examples ?? []).includes(null), place)
      assert.ok(!Array.isArray(type) || type.length > 1, place)
    }
})

test('an end of a range that accepts a day has no format of a time', () => {
  const of_days = tools.flatMap(({ name, inputSchema }) =>
    [...schemasIn(inputSchema, name)].filter(([, { description = '' }]) => /A day counts/.test(description)),
  )
  assert.ok(of_days.length > 10)
  for (const [place, { format }] of of_days) assert.equal(format, undefined, place)
})

test('an argument that a program sends as null counts as left out of a list', async () => {
  const { use, close } = await connectAssistant(rapport)
  const made = await use('create_contact', { first_name: 'Ana', last_name: 'Ruiz', email: null })
  assert.equal(made.isError, false)
  const found = await use('find_contacts', { search: 'Ruiz', page: null, company_id: null, stage: null })
  assert.deepEqual([found.isError, found.meta?.total], [false, 1])
  const changed = await use('update_contact', {
    id: made.data.id,
    stage: 'lead',
    dry_run: null,
    change_group: null,
  })
  assert.equal(changed.data.stage, 'lead')
  await close()
})

test('`clear` empties fields and custom fields, and leaves others as they are', async () => {
  const { use, close } = await connectAssistant(rapport)
  const company = await use('create_company', { name: 'Acme' })
  const { data } = await use('create_contact', {
    first_name: 'Ana',
    last_name: 'Ruiz',
    phone: '+34 910 55 01 42',
    email: 'ana@acme.example',
    company_id: company.data.id,
    custom_fields: { region: 'EMEA', 'two words': 1, kept: true },
  })
  const { id } = data
  const cleared = await use('update_contact', {
    id,
    title: 'Buyer',
    custom_fields: { seats: 3 },
    clear: ['phone', 'company_id', 'custom_fields.region', 'custom_fields.two words'],
  })
  assert.equal(cleared.isError, false, JSON.stringify(cleared.error))
  const { phone, company_id, email, title, custom_fields } = (await call('GET', `/api/v1/contacts/${id}`))
    .body.data
  assert.deepEqual([phone, company_id, email, title], [null, null, 'ana@acme.example', 'Buyer'])
  assert.deepEqual(custom_fields, { kept: true, seats: 3 })
  await close()
})

test('each field that the API clears by null is named by `clear` of its tool', () => {
  for (const [kind, noun] of [
    ['contacts', 'contact'],
    ['companies', 'company'],
    ['deals', 'deal'],
    ['activities', 'activity'],
    ['appointments', 'appointment'],
  ] as const) {
    const update = tools.find(({ name }) => name === `update_${noun}`)
    const { clear, ...properties } = update?.inputSchema.properties ?? {}
    assert.equal(clear.type, 'array', kind)
    assert.ok(Object.keys(properties).length > 3)
    assert.match(clear.description, /`custom_fields\.KEY`/)
  }
  const update = tools.find(({ name }) => name === 'update_contact')
  const { description } = update?.inputSchema.properties.clear ?? {}
  for (const name of [
    'email',
    'phone',
    'mobile',
    'company_id',
    'title',
    'stage',
    'source',
    'tags',
    'owner_id',
  ])
    assert.ok(description.includes(`\`${name}\``), name)
  assert.ok(!description.includes('`first_name`'))
  assert.ok(
    !tools.some(({ name, inputSchema }) => !name.startsWith('update_') && inputSchema.properties.clear),
  )
})

test('`clear` of another field, or of one that also gets a value, changes nothing', async () => {
  const { use, close } = await connectAssistant(rapport)
  const { data } = await use('create_contact', { first_name: 'Ana', last_name: 'Ruiz', phone: '1' })
  for (const [clear, codes] of [
    [['first_name'], ['unknown_value']],
    [['phone', 'fone'], ['unknown_value']],
    ['phone', ['invalid_type']],
    [[1], ['invalid_type']],
    [['title', 'custom_fields.a'], ['not_allowed']],
  ] as const) {
    const { isError, error } = await use('update_contact', {
      id: data.id,
      title: 'Buyer',
      custom_fields: { a: 1 },
      clear,
    })
    assert.equal(isError, true)
    assert.deepEqual(
      error.fields.map(({ field, code }: { field: string; code: string }) => [field, code]),
      codes.map((code) => ['clear', code]),
    )
  }
  const { title, phone } = (await call('GET', `/api/v1/contacts/${data.id}`)).body.data
  assert.deepEqual([title, phone], [null, '1'])
  await close()
})

test('an argument of a search that is no text is an error, and never a list of nothing', async () => {
  const { use, close } = await connectAssistant(rapport)
  const custom_fields = { zone: 'north', seats: 5 }
  await use('create_contact', { first_name: 'Ana', last_name: 'Query', stage: 'asked', custom_fields })
  for (const [tool, given, field] of [
    ['find_contacts', { custom_fields: { seats: { gte: 5 } } }, 'custom_fields.seats'],
    ['find_contacts', { custom_fields: { zone: [['north']] } }, 'custom_fields.zone'],
    ['find_contacts', { custom_fields: ['north'] }, 'custom_fields'],
    ['find_contacts', { custom_fields: 'zone=north' }, 'custom_fields'],
    ['find_contacts', { custom_fields_from: { seats: { value: 1 } } }, 'custom_fields_from.seats'],
    ['find_contacts', { stage: { in: ['asked'] } }, 'stage'],
    ['find_contacts', { tag: { eq: 'fair' } }, 'tag'],
    ['find_contacts', { owner_id: {} }, 'owner_id'],
    ['find_contacts', { search: { like: 'Query' } }, 'search'],
    ['find_contacts', { search: ['Ana', 'Query'] }, 'search'],
    ['search', { q: { like: 'Query' } }, 'q'],
    ['find_deals', { created_at_from: { day: '2026-01-01' } }, 'created_at_from'],
  ] as const) {
    const { isError, error } = await use(tool, given)
    assert.ok(isError, JSON.stringify(given))
    assert.deepEqual([error.fields[0].field, error.fields[0].code], [field, 'invalid_type'])
  }
  for (const given of [
    { custom_fields: { zone: ['north', 'south'] } },
    { custom_fields: { zone: 'north,south', seats: 5 } },
    { stage: ['asked', 'told'] },
    { search: 'Ana Query' },
    { search: 'Ana Query', sort: ['-created_at'] },
  ])
    assert.equal((await use('find_contacts', given)).meta.total, 1, JSON.stringify(given))
  await close()
})

test('custom fields that are no object are refused beside `clear` of a custom field, too', async () => {
  const { use, close } = await connectAssistant(rapport)
  const sent = { first_name: 'Ana', last_name: 'Spread', custom_fields: { kept: true } }
  const { id } = (await use('create_contact', sent)).data
  for (const custom_fields of ['abc', ['a', 'b'], 7, true]) {
    const { isError, error } = await use('update_contact', {
      id,
      custom_fields,
      clear: ['custom_fields.other'],
    })
    assert.ok(isError, JSON.stringify(custom_fields))
    assert.deepEqual([error.fields[0].field, error.fields[0].code], ['custom_fields', 'invalid_type'])
  }
  const cleared = await use('update_contact', { id, custom_fields: null, clear: ['custom_fields.kept'] })
  assert.deepEqual(cleared.data.custom_fields, {})
  await close()
})

test('a number that no reader of JSON keeps clears no field', async () => {
  const { id } = (await call('POST', '/api/v1/deals', { name: 'Infinite', value: 5 })).body.data
  for (const sent of ['"value":1e400', '"custom_fields":{"seats":-1e400}']) {
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_deal","arguments":{"id":${id},${sent}}}}`
    const { text } = await call('POST', '/mcp', message, { accept: 'application/json, text/event-stream' })
    assert.match(text, /"isError":true/, sent)
  }
  assert.equal((await call('GET', `/api/v1/deals/${id}`)).body.data.value, 5)
})
