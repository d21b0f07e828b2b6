import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { useStored } from '../../../test/database.ts'
import { authorsOf, dataOf, no_facts, problems, refused } from '../../../test/envelope.ts'
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

test('the list filters by website, without case and without the slash at its end', async () => {
  const one = await make({ website: 'https://Filtered.example/' })
  const two = await make({ website: 'https://filtered.example' })
  const other = await make({ website: 'https://filtered.example/shop' })
  const found = async (query: string) => {
    const { status, body, text } = await call('GET', `${path}?per_page=100&${query}`)
    assert.equal(status, 200, text)
    assert.equal(body.meta.total, body.data.length)
    return (body.data as { id: number }[]).map(({ id }) => id)
  }
  for (const website of ['https://filtered.example', 'HTTPS://FILTERED.example/'])
    assert.deepEqual(await found(`website=${website}`), [two.id, one.id])
  assert.deepEqual(await found('website=https://filtered.example,https://filtered.example/shop/'), [
    other.id,
    two.id,
    one.id,
  ])
  const others = await found('website=!https://filtered.example')
  assert.ok(others.includes(other.id) && !others.includes(one.id) && !others.includes(two.id))
  const [without, withOne] = [await found('website=null'), await found('website=!null')]
  assert.ok(withOne.includes(one.id) && !without.includes(one.id))
})

describe('creating and reading', () => {
  test('POST answers 201 with the detail view, Location and ETag; GET shows the same', async () => {
    const made = await call('POST', path, all)
    assert.equal(made.status, 201)
    const { id } = made.body.data
    const added = {
      owner_id: null,
      tags: [],
      ...no_facts,
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
    const added = {
      owner_id: null,
      tags: [],
      ...no_facts,
      ...authorsOf(company),
      created_at: now(),
      updated_at: now(),
    }
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
