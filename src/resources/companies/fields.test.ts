import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dataOf, problems } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const call = callOf(rapport)

const path = '/api/v1/companies'
const now = () => new Date(clock.now()).toISOString()
const all = {
  name: 'Acme Inc.',
  website: 'https://acme.example',
  industry: 'Manufacturing',
  phone: '+1 202 555 0143',
  address: '1 Main Street',
}

const make = async (body: object = {}) => dataOf(await call('POST', path, { name: 'Acme', ...body }), 201)
const put = (id: number, body: unknown) => call('PUT', `${path}/${id}`, body)

describe('texts', () => {
  test('texts are trimmed at both ends, and only there', async () => {
    const { name, website, address } = await make({
      name: '  Acme  Inc. ',
      website: '\t\n x \u00a0\u3000\ufeff',
      address: ' \n ',
    })
    assert.deepEqual({ name, website, address }, { name: 'Acme  Inc.', website: 'x', address: null })
  })

  test('"" and null clear an optional text', async () => {
    for (const nothing of ['', '   ', null]) {
      const { id } = await make(all)
      const { name, ...rest } = (await put(id, { website: nothing, industry: nothing, phone: nothing })).body
        .data
      assert.deepEqual(
        [rest.website, rest.industry, rest.phone, rest.address],
        [null, null, null, all.address],
      )
      assert.equal(name, all.name)
    }
  })

  test('a required field is neither absent on create, nor null, nor blank', async () => {
    const { id } = await make()
    for (const name of [null, '', '  ', '\n\t\u00a0', '\ufeff']) {
      assert.deepEqual(problems(await call('POST', path, { name })), { name: 'required' })
      assert.deepEqual(problems(await put(id, { name })), { name: 'required' })
    }
    assert.deepEqual(problems(await call('POST', path, {})), { name: 'required' })
    assert.equal((await call('GET', `${path}/${id}`)).body.data.name, 'Acme')
  })

  test('limits count characters, not bytes or UTF-16 units; at the limit is fine, one more is too_long', async () => {
    const limits = { name: 255, website: 255, industry: 255, phone: 64, address: 255 }
    for (const letter of ['a', 'ß', '語', '😀'])
      for (const [field, limit] of Object.entries(limits)) {
        const text = letter.repeat(limit)
        assert.equal((await make({ [field]: text }))[field], text)
        assert.deepEqual(problems(await call('POST', path, { name: 'A', [field]: `${text}${letter}` })), {
          [field]: 'too_long',
        })
        // Blanks around do not count.
        assert.equal((await make({ [field]: `  ${text} ` }))[field], text)
      }
  })

  test('every character comes back as it was sent', async () => {
    for (const name of [
      '"\\/<>&\'',
      'é e\u0301',
      'שלום عالم',
      '👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿',
      '\u0001\u001f\u007f\u0085',
      '\u2028\u2029',
      '\ufffd\uffff',
      '%00%',
      "'; DROP TABLE companies; --",
    ])
      assert.equal((await make({ name: `x${name}x` })).name, `x${name}x`)
  })

  test('NUL and lone surrogates are 422 anywhere in a body, keys too', async () => {
    for (const bad of ['\\u0000', '\\ud800', '\\udc00', 'a\\ud83da', '\\udc00\\ud800']) {
      const code = 'invalid_characters'
      assert.deepEqual(problems(await call('POST', path, `{"name":"a${bad}"}`)), { name: code })
      assert.deepEqual(problems(await call('POST', path, `{"name":"a","phone":"${bad}b"}`)), { phone: code })
      assert.deepEqual(problems(await call('POST', path, `{"name":"a","custom_fields":{"k":"${bad}"}}`)), {
        'custom_fields.k': code,
      })
      for (const body of [
        `{"name":"a","custom_fields":{"k${bad}":"v"}}`,
        `{"name":"a","${bad}":"v"}`,
        `{"name":"a","id":"${bad}"}`,
      ]) {
        const codes = Object.values(problems(await call('POST', path, body)))
        assert.ok(codes.includes(code), body)
      }
    }
    assert.equal((await call('GET', `${path}?page=%00`)).status, 422)
  })
})

describe('types and unknown fields', () => {
  test('wrong JSON types are never coerced', async () => {
    for (const value of [5, 0, true, false, [], ['a'], {}, { a: 1 }]) {
      assert.deepEqual(problems(await call('POST', path, { name: value })), { name: 'invalid_type' })
      assert.deepEqual(problems(await call('POST', path, { name: 'A', phone: value })), {
        phone: 'invalid_type',
      })
    }
    for (const custom_fields of ['', 'a', 5, true, [], [1]])
      assert.deepEqual(problems(await call('POST', path, { name: 'A', custom_fields })), {
        custom_fields: 'invalid_type',
      })
  })

  test('an unknown field is 422 unknown_field: a typo must not vanish', async () => {
    const { id } = await make()
    const typos = {
      Name: 'A',
      names: 'B',
      ' name': 'C',
      deleted_at: null,
      workspace_id: 1,
      '': 1,
      'a.b': 1,
      'a/b~c': 1,
    }
    const found = problems(await put(id, { name: 'New', ...typos }))
    const expected = ['Name', 'names', ' name', 'deleted_at', 'workspace_id', 'body', 'a.b', 'a/b~c']
    assert.deepEqual(found, Object.fromEntries(expected.map((name) => [name, 'unknown_field'])))
    assert.equal((await call('GET', `${path}/${id}`)).body.data.name, 'Acme')
  })

  test('one 422 has all failing fields, nested ones by their path', async () => {
    const body = {
      website: 5,
      phone: '1'.repeat(65),
      nonsense: 1,
      address: 'a\0',
      custom_fields: { region: [], size: {}, ok: 'fine', long: 'x'.repeat(4097) },
    }
    const expected = {
      name: 'required',
      website: 'invalid_type',
      phone: 'too_long',
      nonsense: 'unknown_field',
      address: 'invalid_characters',
      'custom_fields.region': 'invalid_type',
      'custom_fields.size': 'invalid_type',
      'custom_fields.long': 'too_long',
    }
    assert.deepEqual(problems(await call('POST', path, body)), expected)
    const { id } = await make()
    assert.deepEqual(problems(await put(id, { ...body, name: '' })), expected)
  })

  test('read-only fields are accepted and ignored, whatever they hold', async () => {
    const read_only = { id: 'x', created_at: 5, updated_at: null }
    const made = await make(read_only)
    assert.equal(made.created_at, now())
    const reply = await put(made.id, { ...read_only, name: 'New' })
    assert.deepEqual(reply.body.data, { ...made, name: 'New', updated_at: now() })
  })
})

describe('custom fields', () => {
  const fields = (id: number, custom_fields: unknown) => put(id, { custom_fields })
  const shown = async (id: number) => (await call('GET', `${path}/${id}`)).body.data.custom_fields

  test('values are texts, numbers, true, false or null; null stores nothing', async () => {
    const sent = {
      a: '',
      b: ' kept as it is ',
      c: 1.5,
      d: -3,
      e: true,
      f: false,
      g: null,
      h: 0,
      'a.b': 'x',
      ' ': 1,
      '1': 2,
    }
    const { id, custom_fields } = await make({ custom_fields: sent })
    const { g, ...kept } = sent
    assert.equal(g, null)
    assert.deepEqual(custom_fields, kept)
    assert.deepEqual(await shown(id), kept)
    assert.deepEqual(problems(await fields(id, { region: { a: 1 }, list: ['a'] })), {
      'custom_fields.region': 'invalid_type',
      'custom_fields.list': 'invalid_type',
    })
  })

  test('PUT merges key by key, null removes a key, and null in place of all clears them', async () => {
    const { id } = await make({ custom_fields: { a: '1', b: '2', c: '3' } })
    await fields(id, { b: null, c: 'new', d: true, none: null })
    assert.deepEqual(await shown(id), { a: '1', c: 'new', d: true })
    await put(id, { name: 'Other' })
    assert.deepEqual(await shown(id), { a: '1', c: 'new', d: true })
    await fields(id, {})
    assert.deepEqual(await shown(id), { a: '1', c: 'new', d: true })
    await fields(id, null)
    assert.deepEqual(await shown(id), {})
  })

  test('at most 100 keys, in a body and after merging', async () => {
    const keys = (count: number, from = 0) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${from + index}`, index]))
    const { id } = await make({ custom_fields: keys(100) })
    assert.deepEqual(problems(await call('POST', path, { name: 'A', custom_fields: keys(101) })), {
      custom_fields: 'too_many',
    })
    assert.deepEqual(problems(await fields(id, { one_more: 1 })), { custom_fields: 'too_many' })
    assert.deepEqual(problems(await put(id, { name: '', custom_fields: { one_more: 1 } })), {
      name: 'required',
      custom_fields: 'too_many',
    })
    assert.deepEqual(await shown(id), keys(100))
    // One goes, one comes.
    assert.equal((await fields(id, { k0: null, one_more: 1 })).status, 200)
    assert.equal(Object.keys(await shown(id)).length, 100)
    assert.equal((await fields(id, { k1: 'changed' })).status, 200)
  })

  test('keys have 1 to 64 characters, texts at most 4,096', async () => {
    const { id } = await make()
    for (const letter of ['k', '😀']) {
      const sent = { [letter.repeat(64)]: letter.repeat(4096) }
      assert.deepEqual(
        (await fields(id, { ...sent })).body.data.custom_fields[letter.repeat(64)],
        letter.repeat(4096),
      )
      const key = letter.repeat(65)
      assert.deepEqual(problems(await fields(id, { [key]: 'a' })), { [`custom_fields.${key}`]: 'too_long' })
      assert.deepEqual(problems(await fields(id, { a: letter.repeat(4097) })), {
        'custom_fields.a': 'too_long',
      })
    }
    assert.deepEqual(problems(await fields(id, { '': 'a' })), { 'custom_fields.': 'too_short' })
  })
})
