import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf, problems } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'
import { beside } from '../../../test/keys.ts'
import { transaction } from '../../db/db.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const path = '/api/v1/contacts'
const companies = '/api/v1/companies'
const name = { first_name: 'Ana', last_name: 'Ruiz' }
const now = () => new Date(clock.now()).toISOString()

const done = async (method: string, at: string, body?: unknown) => dataOf(await call(method, at, body))
const made = (body: object = {}) => done('POST', path, { ...name, ...body })
const madeCompany = (body: object = {}) => done('POST', companies, { name: 'Acme', ...body })

test('one 422 names every failing field: missing, unknown, wrong type, too long, not found', async () => {
  const body = {
    last_name: ' ',
    email: 'ana@',
    phone: 5,
    company_id: 999_999,
    stage: 's'.repeat(65),
    tags: ['ok', ' ', 7],
    custom_fields: { nested: {}, fine: 1 },
    nickname: 'An',
  }
  const expected = {
    last_name: 'required',
    email: 'invalid_format',
    phone: 'invalid_type',
    company_id: 'not_found',
    stage: 'too_long',
    'tags.1': 'required',
    'tags.2': 'invalid_type',
    'custom_fields.nested': 'invalid_type',
    nickname: 'unknown_field',
  }
  assert.deepEqual(problems(await call('POST', path, body)), { first_name: 'required', ...expected })
  const { id } = await made()
  assert.deepEqual(problems(await call('PUT', `${path}/${id}`, body)), expected)
  assert.deepEqual(problems(await call('POST', path)), { first_name: 'required', last_name: 'required' })
  assert.deepEqual(problems(await call('POST', path, '[]')), { body: 'invalid_type' })
})

const limits = {
  first_name: 255,
  last_name: 255,
  phone: 64,
  mobile: 64,
  title: 255,
  stage: 64,
  source: 255,
}
for (const [field, limit] of Object.entries(limits))
  test(`${field} has at most ${limit} characters, of any script`, async () => {
    const longest = '😀'.repeat(limit)
    assert.equal((await made({ [field]: ` ${longest} ` }))[field], longest)
    const reply = await call('POST', path, { ...name, [field]: `${longest}é` })
    assert.deepEqual(problems(reply), { [field]: 'too_long' })
  })

test('an e-mail has at most 320 characters and is syntactically valid', async () => {
  const longest = `${'a'.repeat(64)}@${'b'.repeat(247)}.example`
  assert.equal((await made({ email: ` ${longest} ` })).email, longest)
  assert.deepEqual(problems(await call('POST', path, { ...name, email: `a${longest}` })), {
    email: 'too_long',
  })
  for (const email of ['ana', '@acme.example', 'a b@acme.example', 'a@b@c.example', 'a..b@acme.example'])
    assert.deepEqual(problems(await call('POST', path, { ...name, email })), { email: 'invalid_format' })
  // RFC 6531: letters of any script, in the local part too.
  for (const email of ['ü28@acme.example', '用户@例子.example', "o'hara+crm@acme.example"])
    assert.equal((await made({ email })).email, email)
  const [first, second] = [
    await made({ email: 'same@acme.example' }),
    await made({ email: 'same@acme.example' }),
  ]
  assert.notEqual(first.id, second.id)
})

test('wrong types are refused, never coerced', async () => {
  const { id } = await made({ stage: 'lead' })
  const wrong = {
    first_name: 5,
    last_name: true,
    email: [],
    phone: 34910550142,
    mobile: {},
    company_id: '7',
    title: 0,
    stage: false,
    source: 1.5,
    custom_fields: '',
    tags: '',
  }
  const expected = Object.fromEntries(Object.keys(wrong).map((field) => [field, 'invalid_type']))
  assert.deepEqual(problems(await call('POST', path, wrong)), expected)
  assert.deepEqual(problems(await call('PUT', `${path}/${id}`, wrong)), expected)
  for (const company_id of ['', 1.5, 0, -1, 2 ** 53, false])
    assert.ok('company_id' in problems(await call('PUT', `${path}/${id}`, { company_id })))
})

test('NUL and lone surrogates are refused, in values, keys and tags', async () => {
  const reply = await call(
    'POST',
    path,
    '{"first_name":"A\\u0000","last_name":"R\\ud800","tags":["\\udc00"],"custom_fields":{"k":"\\u0000"}}',
  )
  const code = 'invalid_characters'
  assert.deepEqual(problems(reply), {
    first_name: code,
    last_name: code,
    'tags.0': code,
    'custom_fields.k': code,
  })
})

test('names can be neither null nor blank, null and "" clear the rest', async () => {
  const company = await madeCompany()
  const full = await made({
    email: 'a@acme.example',
    phone: '1',
    mobile: '2',
    company_id: company.id,
    title: 'T',
    stage: 'lead',
    source: 'S',
    custom_fields: { a: 1 },
    tags: ['x'],
  })
  const at = `${path}/${full.id}`
  assert.deepEqual(problems(await call('PUT', at, { first_name: null, last_name: ' ' })), {
    first_name: 'required',
    last_name: 'required',
  })
  const blank = await done('PUT', at, {
    email: '',
    phone: ' ',
    mobile: '',
    title: '',
    stage: '',
    source: '',
  })
  assert.deepEqual(blank, {
    ...full,
    email: null,
    phone: null,
    mobile: null,
    title: null,
    stage: null,
    source: null,
  })
  const bare = await done('PUT', at, { company_id: null, custom_fields: null, tags: null })
  assert.deepEqual(bare, { ...blank, company_id: null, company: null, custom_fields: {}, tags: [] })
  const nulls = Object.fromEntries(
    Object.keys(full)
      .filter((field) => !(field in name))
      .map((field) => [field, null]),
  )
  const { id, created_at, updated_at } = await made(nulls)
  assert.deepEqual(await done('GET', `${path}/${id}`), {
    ...bare,
    id,
    created_at,
    updated_at,
  })
})

test('read-only fields are accepted and ignored', async () => {
  const read_only = {
    id: 'x',
    company: { id: 1, name: 'Other' },
    created_at: '1999-01-01T00:00:00.000Z',
    updated_at: 5,
  }
  const contact = await made(read_only)
  assert.equal(typeof contact.id, 'number')
  assert.equal(contact.company, null)
  assert.equal(contact.created_at, now())
  assert.deepEqual(await done('PUT', `${path}/${contact.id}`, read_only), contact)
})

test('tags are at most 50 distinct strings of 1 to 64 characters, trimmed, kept in order', async () => {
  const { id, tags } = await made({ tags: [' b ', 'a', 'b', 'B', 'a '] })
  assert.deepEqual(tags, ['b', 'a', 'B'])
  const at = `${path}/${id}`
  const fifty = Array.from({ length: 50 }, (_, n) => `${n}`.padStart(64, 't'))
  assert.deepEqual((await done('PUT', at, { tags: [...fifty, ...fifty] })).tags, fifty)
  assert.deepEqual(problems(await call('PUT', at, { tags: [...fifty, 'one more'] })), { tags: 'too_many' })
  assert.deepEqual(problems(await call('PUT', at, { tags: ['t'.repeat(65)] })), { 'tags.0': 'too_long' })
  assert.deepEqual(problems(await call('PUT', at, { tags: ['a', '\t'] })), { 'tags.1': 'required' })
  assert.deepEqual((await done('PUT', at, { tags: ['only'] })).tags, ['only'])
})

test('custom fields merge key by key, and null removes a key', async () => {
  const { id } = await made({ custom_fields: { a: 'x', b: 1.5, c: true, gone: null } })
  const at = `${path}/${id}`
  assert.deepEqual((await done('GET', at)).custom_fields, { a: 'x', b: 1.5, c: true })
  const merged = await done('PUT', at, { custom_fields: { a: ' kept as sent ', c: null, d: false } })
  assert.deepEqual(merged.custom_fields, { a: ' kept as sent ', b: 1.5, d: false })
  const odd = { constructor: 'x', toString: 'y', 'with.dot/and ~': 0, '': undefined }
  assert.deepEqual((await done('PUT', at, { custom_fields: odd })).custom_fields, {
    ...merged.custom_fields,
    constructor: 'x',
    toString: 'y',
    'with.dot/and ~': 0,
  })
})

test('custom fields are at most 100 keys, also after a merge, with their own limits', async () => {
  const keys = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`k${from + n}`, 'v']))
  const { id } = await made({ custom_fields: keys(0, 100) })
  const at = `${path}/${id}`
  const too_many = { custom_fields: 'too_many' }
  assert.deepEqual(problems(await call('POST', path, { ...name, custom_fields: keys(0, 101) })), too_many)
  assert.deepEqual(problems(await call('PUT', at, { custom_fields: { one_more: 1 } })), too_many)
  assert.equal((await call('PUT', at, { custom_fields: { k0: null, instead: 1 } })).status, 200)
  const longest = { ['k'.repeat(64)]: 'v'.repeat(4096) }
  assert.deepEqual((await made({ custom_fields: longest })).custom_fields, longest)
  for (const custom_fields of [{ ['k'.repeat(65)]: 1 }, { k: 'v'.repeat(4097) }])
    assert.deepEqual(Object.values(problems(await call('POST', path, { ...name, custom_fields }))), [
      'too_long',
    ])
  // 64 KiB in bytes, with the names: two bytes a letter here.
  const bytes = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`large${n}`, 'é'.repeat(2000)]))
  const too_large = { custom_fields: 'too_large' }
  assert.deepEqual(problems(await call('POST', path, { ...name, custom_fields: bytes(17) })), too_large)
  const large = await made({ custom_fields: bytes(16) })
  const more = { custom_fields: { more: 'v'.repeat(2000) } }
  assert.deepEqual(problems(await call('PUT', `${path}/${large.id}`, more)), too_large)
  assert.deepEqual(await done('PUT', `${path}/${large.id}`, { title: 'Other' }), {
    ...large,
    title: 'Other',
  })
  const infinite = await call('PUT', at, '{"custom_fields":{"k1":1e400}}')
  assert.deepEqual(problems(infinite), { 'custom_fields.k1': 'invalid_type' })
})

test('custom fields of more than 64 KiB, which earlier versions took, are made smaller in steps, and never larger', async () => {
  const { id } = await made()
  const at = `${path}/${id}`
  const stored = { a: 'a'.repeat(50_000), b: 'b'.repeat(50_000), c: 'c'.repeat(50_000) }
  const custom_fields = JSON.stringify(stored)
  await beside(rapport.data_dir, (db) =>
    transaction(db, (tx) => tx.updateTable('contacts').set({ custom_fields }).where('id', '=', id).execute()),
  )
  const smaller = await done('PUT', at, { custom_fields: { a: null } })
  assert.deepEqual(Object.keys(smaller.custom_fields), ['b', 'c'])
  const larger = await call('PUT', at, { custom_fields: { d: 'd' } })
  assert.deepEqual(problems(larger), { custom_fields: 'too_large' })
  const within = await done('PUT', at, { custom_fields: { b: null, d: 'd' } })
  assert.deepEqual(Object.keys(within.custom_fields), ['c', 'd'])
})
