import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useStored } from '../../../test/database.ts'
import { authorsOf, dataOf, problems, refused } from '../../../test/envelope.ts'
import { callOf, turnableClock, useRapport } from '../../../test/harness.ts'

const clock = turnableClock()
const rapport = useRapport({ clock })
const stored = useStored(rapport)
const call = callOf(rapport)

const path = '/api/v1/companies'
const now = () => new Date(clock.now()).toISOString()
const all = {
  name: 'Acme Inc.',
  website: 'https://acme.example',
  industry: 'Manufacturing',
  phone: '+1 202 555 0143',
  address: '1 Main Street',
  custom_fields: { region: 'EMEA', size: 12.5, partner: true },
}
const empty = { website: null, industry: null, phone: null, address: null, custom_fields: {} }

const make = async (body: object = {}) => dataOf(await call('POST', path, { name: 'Acme', ...body }), 201)
const put = (id: number, body: unknown) => call('PUT', `${path}/${id}`, body)
const events = (id: number) => stored.events('company', id)
const names = async (id: number) => (await events(id)).map(({ event }) => event)

describe('creating and reading', () => {
  test('POST answers 201 with the detail view, Location and ETag; GET shows the same', async () => {
    const made = await call('POST', path, all)
    assert.equal(made.status, 201)
    const { id } = made.body.data
    const added = {
      owner_id: null,
      tags: [],
      ...authorsOf(made.body.data),
      created_at: now(),
      updated_at: now(),
    }
    assert.deepEqual(made.body, { success: true, data: { id, ...all, ...added } })
    assert.equal(made.headers.get('location'), `${path}/${id}`)
    const read = await call('GET', `${path}/${id}`)
    assert.equal(read.text, made.text)
    assert.equal(read.headers.get('etag'), made.headers.get('etag'))
    assert.match(read.headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/)
  })

  test('what was not sent is null, and {} for custom fields', async () => {
    const { id, ...company } = await make()
    const added = { owner_id: null, tags: [], ...authorsOf(company), created_at: now(), updated_at: now() }
    assert.deepEqual(company, { name: 'Acme', ...empty, ...added })
    assert.ok(Number.isSafeInteger(id) && id > 0)
  })

  test('timestamps are ISO 8601 in UTC with milliseconds; only updated_at moves', async () => {
    const { id, created_at } = await make()
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    clock.advance(1234)
    const changed = (await put(id, { name: 'Other' })).body.data
    assert.equal(changed.created_at, created_at)
    assert.equal(changed.updated_at, now())
  })

  test('an id is never given twice, not even after the newest record was deleted', async () => {
    const first = await make()
    await call('DELETE', `${path}/${first.id}`)
    const second = await make()
    assert.ok(second.id > first.id)
  })
})

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

describe('changing', () => {
  test('absent fields stay; PUT and PATCH do the same', async () => {
    for (const method of ['PUT', 'PATCH']) {
      const made = await make(all)
      const reply = await call(method, `${path}/${made.id}`, { phone: '1' })
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.body.data, { ...made, phone: '1', updated_at: now() })
      assert.equal((await call('GET', `${path}/${made.id}`)).text, reply.text)
      assert.equal(reply.headers.get('location'), null)
    }
  })

  test('what GET returned can be put back: nothing changes, no time and no event', async () => {
    for (const body of [all, {}, { custom_fields: { '1': 1, b: '', a: 0.1 } }]) {
      const { id } = await make(body)
      clock.advance(1000)
      const { text, body: shown, headers } = await call('GET', `${path}/${id}`)
      for (const back of [
        shown.data,
        {},
        { name: shown.data.name },
        { name: ` ${shown.data.name} `, custom_fields: {} },
      ]) {
        const reply = await put(id, back)
        assert.equal(reply.status, 200)
        assert.equal(reply.text, text)
        assert.equal(reply.headers.get('etag'), headers.get('etag'))
      }
      assert.deepEqual(await names(id), ['company.created'])
    }
  })

  test('an edit of what GET returned changes that alone, and its event tells it', async () => {
    const { id } = await make(all)
    clock.advance(1000)
    const { data } = (await call('GET', `${path}/${id}`)).body
    const custom_fields = { ...data.custom_fields, region: 'APAC' }
    const edited = (await put(id, { ...data, name: 'New', phone: '', custom_fields })).body.data
    assert.deepEqual(edited, { ...data, name: 'New', phone: null, custom_fields, updated_at: now() })
    const [, event] = await events(id)
    assert.equal(event?.event, 'company.updated')
    assert.deepEqual(event?.data, edited)
    assert.deepEqual(event?.changed_fields, ['name', 'phone', 'custom_fields'])
    assert.deepEqual(event?.previous, { name: all.name, phone: all.phone, custom_fields: all.custom_fields })
  })

  test('a refused change changes nothing, emits nothing, and keeps the total', async () => {
    const { id } = await make(all)
    const before = await call('GET', `${path}/${id}`)
    const { total } = (await call('GET', path)).body.meta
    problems(await put(id, { name: 'New', phone: 5 }))
    problems(await call('POST', path, { name: 'New', phone: 5 }))
    assert.equal((await call('GET', `${path}/${id}`)).text, before.text)
    assert.equal((await call('GET', path)).body.meta.total, total)
    assert.deepEqual(await names(id), ['company.created'])
  })

  test('an unknown id is 404 before what is wrong with the body', async () => {
    refused(await put(999_999, { name: 5 }), 404, 'not_found')
    refused(await put(999_999, {}), 404, 'not_found')
    refused(await put(999_999, { nonsense: 1 }), 404, 'not_found')
  })
})

describe('deleting and restoring', () => {
  test('DELETE is 200 with a message; the record is gone, and a second DELETE is 404', async () => {
    const { id } = await make()
    const reply = await call('DELETE', `${path}/${id}`)
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body, { success: true, message: 'The company was deleted.' })
    refused(await call('DELETE', `${path}/${id}`), 404, 'not_found')
    refused(await call('GET', `${path}/${id}`), 404, 'not_found')
    refused(await put(id, { name: 'New' }), 404, 'not_found')
    assert.deepEqual(await names(id), ['company.created', 'company.deleted'])
  })

  test('the event of a deletion has the last detail view', async () => {
    const made = await make(all)
    clock.advance(1000)
    await call('DELETE', `${path}/${made.id}`)
    const [, deleted] = await events(made.id)
    assert.deepEqual(deleted?.data, made)
    assert.equal(deleted?.timestamp, now())
    assert.deepEqual(Object.keys(deleted ?? {}), ['id', 'event', 'timestamp', 'data'])
  })

  test('restoring brings the record back as it was, with an event that says so', async () => {
    const made = await make(all)
    clock.advance(1000)
    const deleted_at = now()
    await call('DELETE', `${path}/${made.id}`)
    clock.advance(1000)
    const restored = await call('POST', `${path}/${made.id}/restore`)
    assert.equal(restored.status, 200)
    assert.deepEqual(restored.body.data, made)
    assert.equal((await call('GET', `${path}/${made.id}`)).text, restored.text)
    const [, , event] = await events(made.id)
    assert.equal(event?.event, 'company.updated')
    assert.deepEqual(event?.changed_fields, ['deleted_at'])
    assert.deepEqual(event?.previous, { deleted_at })
    assert.deepEqual(event?.data, restored.body.data)
  })

  test('restoring a live record is 200, unchanged and without an event; an unknown one is 404', async () => {
    const { id } = await make()
    clock.advance(1000)
    const { text } = await call('GET', `${path}/${id}`)
    const reply = await call('POST', `${path}/${id}/restore`)
    assert.equal(reply.status, 200)
    assert.equal(reply.text, text)
    assert.deepEqual(await names(id), ['company.created'])
    refused(await call('POST', `${path}/999999/restore`), 404, 'not_found')
  })
})
